/** What a token lets its holder do. The main token is the owner's and lets them do everything. */
import { CortexError } from "./errors.ts";
import { isGrantable } from "./event.ts";

/** `admin` includes all others: a program that creates tokens can create any. */
const PLAIN_SCOPES = ["read", "send", "approve", "admin"] as const;
type PlainScope = (typeof PLAIN_SCOPES)[number];

export type Scope = PlainScope | `ingest:${string}`;

/** What a request needs. `ingest`: the scope of the adapter that its event names. */
export type Need = PlainScope | "ingest";

export const SCOPES_USAGE = [...PLAIN_SCOPES, "ingest:<adapter>"].join(", ");

/** Who makes a request. */
export interface Caller {
  /** The person: `owner`. */
  readonly principal: string;
  readonly can: readonly Scope[];
  /** The name of the scoped token. Undefined: the main token, or a browser that it logged in. */
  readonly token?: string;
}

export const OWNER_CALLER: Caller = { principal: "owner", can: ["admin"] };

export function allows({ can }: Caller, need: Need): boolean {
  if (can.includes("admin")) return true;
  return need === "ingest" ? can.some((scope) => scope.startsWith("ingest:")) : can.includes(need);
}

/** Throws `scope_missing` unless the caller may do this. */
export function requireScope(caller: Caller, need: Need): void {
  if (!allows(caller, need)) throw scopeMissing(caller, need === "ingest" ? "ingest:<adapter>" : need);
}

/** Whether a token was made for the events of this adapter. */
export function mayIngest({ can }: Caller, adapter: string): boolean {
  return can.includes(`ingest:${adapter}`);
}

/** Reads `read,send` or `read send`. Throws `request_invalid` for anything that is not a scope. */
export function parseScopes(text: string): readonly Scope[] {
  const scopes = text.split(/[\s,|]+/).filter((part) => part !== "");
  return checkScopes(scopes);
}

export function checkScopes(scopes: readonly string[]): readonly Scope[] {
  if (scopes.length === 0) throw scopeInvalid("");
  return [...new Set(scopes.map(checkScope))].toSorted();
}

function checkScope(scope: string): Scope {
  if ((PLAIN_SCOPES as readonly string[]).includes(scope)) return scope as Scope;
  const adapter = /^ingest:(.*)$/s.exec(scope)?.[1];
  if (adapter === undefined || !isGrantable(adapter)) throw scopeInvalid(scope);
  return scope as Scope;
}

export function scopeMissing({ token }: Pick<Caller, "token">, scope: string): CortexError {
  return new CortexError("scope_missing", `The token "${token ?? ""}" lacks the scope ${scope}`, {
    hint: `Create a token with it: \`cortex tokens create <name> --can ${scope}\`.`,
  });
}

function scopeInvalid(scope: string): CortexError {
  const adapter = /^ingest:(.*)$/s.exec(scope)?.[1];
  return new CortexError("request_invalid", `Invalid scope ${JSON.stringify(scope.slice(0, 80))}`, {
    hint:
      adapter === undefined || adapter === ""
        ? `Scopes: ${SCOPES_USAGE}.`
        : "An adapter name has 1 to 64 lowercase letters, digits, dots, - and _, and must not be reserved.",
  });
}
