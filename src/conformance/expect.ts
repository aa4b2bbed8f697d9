/** What a check expects, and what it found instead. */
import { setTimeout as pause } from "node:timers/promises";

/** A check was not met. Its message is for the author of a channel. */
export class Unmet extends Error {
  override readonly name = "Unmet";

  constructor(expected: string, found: unknown) {
    super(`expected ${expected}; found ${shown(found)}`);
  }
}

export function must(expected: string, found: unknown, holds: boolean): void {
  if (!holds) throw new Unmet(expected, found);
}

/** For what comes soon, on a machine that may be busy. */
const PATIENCE_MS = 90_000;
const POLL_MS = 20;

/** Waits until something holds, and returns it. */
export async function eventually<Value>(
  expected: string,
  read: () => Value | Promise<Value>,
  holds: (value: Value) => boolean,
): Promise<Value> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > untilMs) throw new Unmet(expected, value);
    await pause(POLL_MS);
  }
}

const MAX_SHOWN = 1_000;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
