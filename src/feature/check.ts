import { CortexError } from "../model/errors.ts";
import { type Change, describeChange } from "./changes.ts";

/** One result of the doctor. */
export interface Check {
  /** The subject. Several checks may share it. */
  readonly name: string;
  /** warn: needs attention. fail: does not work. */
  readonly state: "ok" | "warn" | "fail";
  /** Without a full stop. */
  readonly message: string;
  /** The fix, as a sentence. Null: nothing to do. */
  readonly hint: string | null;
  /** The automatic fix. Null: there is none. */
  readonly change: Change | null;
  /** Whether it keeps Cortex from starting. */
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

/** A failure that keeps Cortex from starting. */
export function refusal(name: string, message: string, hint: string): Check {
  return { ...fail(name, message, hint), stopsStart: true };
}

/** The failure that a CortexError describes. Rethrows other errors. */
export function failure(name: string, error: unknown): Check {
  if (error instanceof CortexError) return fail(name, error.message, error.hint);
  throw error;
}

/** The same, for an error that keeps Cortex from starting. */
export function refusalBy(name: string, error: unknown): Check {
  return { ...failure(name, error), stopsStart: true };
}

/** In JSON, a change is its diff as lines. */
export function checkView({ change, ...check }: Check) {
  return { ...check, diff: change === null ? null : describeChange(change) };
}
