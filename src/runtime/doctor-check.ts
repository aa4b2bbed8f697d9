import { CortexError } from "../model/errors.ts";

/** What one look at one thing has found. */
export interface Check {
  /** What was looked at; several checks may have the same name. */
  readonly name: string;
  /** warn: somebody should look at it. fail: something does not work. */
  readonly state: "ok" | "warn" | "fail";
  /** Without a full stop. */
  readonly message: string;
  /** What to do. Null where nothing has to be done. */
  readonly hint: string | null;
}

const RANKS = { ok: 0, warn: 1, fail: 2 } as const;

export function worst(checks: readonly Check[]): Check["state"] {
  return checks.reduce<Check["state"]>(
    (state, check) => (RANKS[check.state] > RANKS[state] ? check.state : state),
    "ok",
  );
}

export function ok(name: string, message: string): Check {
  return { name, state: "ok", message, hint: null };
}

export function warn(name: string, message: string, hint: string): Check {
  return { name, state: "warn", message, hint };
}

export function fail(name: string, message: string, hint: string): Check {
  return { name, state: "fail", message, hint };
}

/** What an error of ours says. */
export function failure(name: string, error: unknown): Check {
  if (error instanceof CortexError) return fail(name, error.message, error.hint);
  throw error;
}
