import { CortexError } from "../model/errors.ts";
import { type Change, describeChange } from "./changes.ts";

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
  /** What would put it right. Null where that is for a person. */
  readonly change: Change | null;
  /** Whether Cortex does not start because of it. */
  readonly stopsStart: boolean;
}

const RANKS = { ok: 0, warn: 1, fail: 2 } as const;

export function worst(checks: readonly Check[]): Check["state"] {
  return checks.reduce<Check["state"]>(
    (state, check) => (RANKS[check.state] > RANKS[state] ? check.state : state),
    "ok",
  );
}

export function ok(name: string, message: string): Check {
  return { name, state: "ok", message, hint: null, change: null, stopsStart: false };
}

export function warn(name: string, message: string, hint: string, change: Change | null = null): Check {
  return { name, state: "warn", message, hint, change, stopsStart: false };
}

export function fail(name: string, message: string, hint: string): Check {
  return { name, state: "fail", message, hint, change: null, stopsStart: false };
}

/** With this, Cortex does not start. */
export function refusal(name: string, message: string, hint: string): Check {
  return { ...fail(name, message, hint), stopsStart: true };
}

/** What an error of ours says. */
export function failure(name: string, error: unknown): Check {
  if (error instanceof CortexError) return fail(name, error.message, error.hint);
  throw error;
}

/** What an error of ours says that also keeps Cortex from starting. */
export function refusalBy(name: string, error: unknown): Check {
  return { ...failure(name, error), stopsStart: true };
}

/** A change in JSON is the lines of its diff. */
export function checkView({ change, ...check }: Check) {
  return { ...check, diff: change === null ? null : describeChange(change) };
}
