/** Values of a channel from standard input, for programs: one `NAME=value` per line, as in `config/.env`. */
import { text } from "node:stream/consumers";
import { parseEnv } from "node:util";

import { CortexError } from "../../model/errors.ts";
import type { AskedValue, NewValues } from "./asked-values.ts";

/** Nobody types values into a terminal that is not asked. */
export async function readInput(): Promise<string> {
  return process.stdin.isTTY ? "" : text(process.stdin);
}

/** Names are variables of secrets, or settings. Throws `usage` for unknown and missing ones. */
export function givenValues(
  input: string,
  {
    channel,
    asked,
    mayKeep,
  }: {
    readonly channel: string;
    readonly asked: readonly AskedValue[];
    /** Whether what is set already need not be given. */
    readonly mayKeep: boolean;
  },
): NewValues {
  const values = new Map<string, string>();
  for (const [name, value = ""] of Object.entries(parseEnv(input))) {
    const known = asked.find(({ variable, setting }) => name === variable || name === setting);
    if (known === undefined && /^[A-Z0-9_]+$/.test(name)) throw nameUnknown(name, channel, asked);
    if (value !== "") values.set(known?.setting ?? name, value);
  }
  const missing = asked.filter(
    ({ setting, isOptional, current }) =>
      !isOptional && !values.has(setting) && !(mayKeep && current !== undefined),
  );
  if (missing.length > 0) throw valuesMissing(channel, missing);
  return values;
}

function valuesMissing(channel: string, missing: readonly AskedValue[]): CortexError {
  return new CortexError("usage", `Missing values for ${channel}: ${missing.map(nameOf).join(", ")}`, {
    hint: `Run the command in a terminal, or pass lines on standard input: ${missing.map(lineOf).join(", ")}.`,
  });
}

function nameUnknown(name: string, channel: string, asked: readonly AskedValue[]): CortexError {
  return new CortexError("usage", `Unknown variable "${name}" for ${channel}`, {
    hint: `Expected: ${asked.map(nameOf).join(", ")}, or a setting of the channel.`,
  });
}

function nameOf({ variable, setting }: AskedValue): string {
  return variable ?? setting;
}

function lineOf(value: AskedValue): string {
  return `${nameOf(value)}=${value.example}`;
}
