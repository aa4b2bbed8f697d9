/** Turns the port's values about people into the writer's input, and refuses what cannot be a person. */
import { CortexError } from "../../model/errors.ts";
import { canonicalJson } from "../../model/json.ts";
import { PERSON_ID } from "../../model/person.ts";
import { type Identity, isIdentity } from "../../model/principal.ts";
import { type Actor, MAX_PERMISSIONS_BYTES, type NewPerson, type PersonChange } from "../store.ts";
import type { Input } from "./operations.ts";

export function encodePerson(person: NewPerson): Input<"addPerson">["person"] {
  const { id, name, role, identities = [], permissions, limits = {} } = person;
  if (!PERSON_ID.test(id)) throw personIdInvalid(id);
  return {
    id,
    name: checkName(name),
    role,
    identities: identities.map(checkIdentity),
    permissions: encodePermissions(permissions),
    limits: encodeLimits(limits),
  };
}

export function encodePersonChange(id: string, change: PersonChange, by: Actor): Input<"changePerson"> {
  const { name, role, link = [], unlink = [], permissions, limits = {} } = change;
  return {
    id,
    name: name === undefined ? null : checkName(name),
    role,
    link: link.map(checkIdentity),
    unlink,
    permissions: permissions === undefined ? undefined : encodePermissions(permissions),
    limits: encodeLimits(limits),
    by,
  };
}

/** Null narrows nothing, as if there were none. */
function encodePermissions(permissions: PersonChange["permissions"]): string | null {
  if (permissions === undefined || permissions === null) return null;
  const encoded = canonicalJson(permissions);
  if (Buffer.byteLength(encoded) <= MAX_PERMISSIONS_BYTES) return encoded;
  throw new CortexError("limit_invalid", `A person's permissions exceed ${MAX_PERMISSIONS_BYTES} bytes`, {
    hint: "Use patterns with * instead of long lists.",
  });
}

function encodeLimits(limits: NonNullable<PersonChange["limits"]>): string {
  for (const [name, limit] of Object.entries(limits)) {
    const isValid = limit === null || (Number.isFinite(limit) && limit >= 0);
    const isWhole = name === "usdPerDay" || limit === null || Number.isSafeInteger(limit);
    if (!isValid || !isWhole) throw limitInvalid(name, limit);
  }
  return canonicalJson(limits);
}

const MAX_NAME_LENGTH = 200;

function checkName(name: string): string {
  if (name.trim() !== "" && name.length <= MAX_NAME_LENGTH) return name;
  throw new CortexError("limit_invalid", `Invalid person name ${JSON.stringify(name.slice(0, 60))}`, {
    hint: `Use 1 to ${MAX_NAME_LENGTH} characters.`,
  });
}

function checkIdentity(identity: string): Identity {
  if (isIdentity(identity)) return identity;
  throw new CortexError("id_invalid", `Invalid identity ${JSON.stringify(identity.slice(0, 100))}`, {
    hint: "Use channel:sender (telegram:42) or channel@account:sender. Cortex's own channels, such as http, have no identities.",
  });
}

function personIdInvalid(id: string): CortexError {
  return new CortexError("id_invalid", `Invalid person id ${JSON.stringify(id.slice(0, 100))}`, {
    hint: "Use 1 to 64 lower-case letters, digits, dots, - and _, starting with a letter or digit.",
  });
}

function limitInvalid(name: string, limit: number | null | undefined): CortexError {
  return new CortexError("limit_invalid", `Invalid limit ${name}: ${String(limit)}`, {
    hint: "Use a number of at least 0; pending and perMinute are whole numbers.",
  });
}
