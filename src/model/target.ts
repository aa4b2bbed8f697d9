import { CortexError } from "./errors.ts";
import type { PersonaId, TurnId } from "./ids.ts";
import { normalizeSessionKey, type SessionKey } from "./session-key.ts";

/** Where a message should go. Session and persona are layers over the turn: a label, and whose label. */
type Target =
  | { readonly kind: "turn"; readonly turn: TurnId }
  | { readonly kind: "session"; readonly session: SessionKey }
  | { readonly kind: "persona"; readonly persona: PersonaId };

/** A route as people and hooks write it: at most one of the first three. */
export interface RouteWish {
  readonly thread?: string | null | undefined;
  readonly session?: string | null | undefined;
  readonly persona?: string | null | undefined;
  /** Look for the best target first, and fall back on the one that is named. */
  readonly smart?: boolean | undefined;
}

const FIELDS = ["thread", "session", "persona"] as const;

/** The one target that a route names, or undefined where it names none and the default applies. */
export function parseRoute(route: RouteWish): Target | undefined {
  const named = FIELDS.filter((field) => route[field] !== undefined && route[field] !== null);
  if (named.length > 1) throw conflict(route, named);
  const [field] = named;
  if (field === undefined) return undefined;
  const value = route[field]!.trim();
  if (value === "") throw empty(field);
  switch (field) {
    case "thread":
      return { kind: "turn", turn: value as TurnId };
    case "session":
      return { kind: "session", session: normalizeSessionKey(value) };
    case "persona":
      return { kind: "persona", persona: value as PersonaId };
  }
}

function conflict(route: RouteWish, named: readonly (keyof RouteWish)[]): CortexError {
  const given = named.map((field) => `${field} "${String(route[field])}"`).join(" and ");
  return new CortexError("target_conflict", `Expected one target, got ${given}`, {
    hint: "Pass only one of thread, session and persona.",
  });
}

function empty(field: string): CortexError {
  return new CortexError("target_invalid", `Empty \`${field}\` in the route`, {
    hint: "Omit it to use the default session.",
  });
}
