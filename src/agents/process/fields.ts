/** Reads and validates the fields of a line from another program. */
import { CortexError } from "../../model/errors.ts";
import { isJsonObject, type Json } from "../../model/json.ts";
import { truncate } from "../../model/truncate.ts";

export type Fields = { readonly [name: string]: Json };

/** How much of an invalid line is quoted. */
export const MAX_LINE_QUOTED = 200;

/** The object that a line holds. */
export function readFields(line: string): Fields {
  let value: Json;
  try {
    value = JSON.parse(line);
  } catch {
    throw protocolViolation("not JSON", line);
  }
  if (!isJsonObject(value)) throw protocolViolation("not an object", line);
  return value;
}

export function requireText(fields: Fields, name: string): string {
  return optionalText(fields, name) ?? wrongField(fields, name, "a string");
}

export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return value === undefined || typeof value === "string" ? value : wrongField(fields, name, "a string");
}

export function optionalFlag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  return value === undefined || typeof value === "boolean"
    ? value
    : wrongField(fields, name, "true or false");
}

/** Tokens, milliseconds, dollars. JSON knows no infinity, but 1e999 is one. */
export function optionalAmount(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || (typeof value === "number" && value >= 0 && Number.isFinite(value)))
    return value;
  return wrongField(fields, name, "a non-negative number");
}

export function optionalWhole(fields: Fields, name: string): number | undefined {
  const value = optionalAmount(fields, name);
  return value === undefined || Number.isSafeInteger(value) ? value : wrongField(fields, name, "an integer");
}

export function requireObject(fields: Fields, name: string): Fields {
  return optionalObject(fields, name) ?? wrongField(fields, name, "an object");
}

export function optionalObject(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  return value === undefined || isJsonObject(value) ? value : wrongField(fields, name, "an object");
}

export function requireList(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) && value.every(isJsonObject)
    ? value
    : wrongField(fields, name, "a list of objects");
}

function wrongField(fields: Fields, name: string, expected: string): never {
  throw protocolViolation(`"${name}" is not ${expected}`, JSON.stringify(fields));
}

export function protocolViolation(why: string, line: string): CortexError {
  return new CortexError(
    "sub_agent_failed",
    `Invalid sub-agent protocol line (${why}): ${truncate(line, MAX_LINE_QUOTED)}`,
    {
      hint: "docs/sub-agent-protocol.md describes all lines; `cortex sub-agent check` tests a program.",
    },
  );
}
