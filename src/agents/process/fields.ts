/** Reads the fields of a line that somebody else has written, and says what is wrong with them. */
import { CortexError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";

export type Fields = Readonly<Record<string, Json | undefined>>;

/** How much of a line is shown where something is wrong with it. */
const MAX_SHOWN = 200;

/** The object that a line holds. */
export function readFields(line: string): Fields {
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    throw notOfTheProtocol("it is not JSON", line);
  }
  if (!isFields(value)) throw notOfTheProtocol("it is not an object", line);
  return value;
}

export function text(fields: Fields, name: string): string {
  return optionalText(fields, name) ?? missing(fields, name, "a text");
}

export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return value === undefined || typeof value === "string" ? value : missing(fields, name, "a text");
}

export function optionalFlag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  return value === undefined || typeof value === "boolean" ? value : missing(fields, name, "true or false");
}

/** Tokens, milliseconds, dollars. JSON knows no infinity, but 1e999 is one. */
export function optionalAmount(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || (typeof value === "number" && value >= 0 && Number.isFinite(value)))
    return value;
  return missing(fields, name, "a number that is not negative");
}

export function optionalWhole(fields: Fields, name: string): number | undefined {
  const value = optionalAmount(fields, name);
  return value === undefined || Number.isSafeInteger(value) ? value : missing(fields, name, "a whole number");
}

export function inner(fields: Fields, name: string): Fields {
  return optionalInner(fields, name) ?? missing(fields, name, "an object");
}

export function optionalInner(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  return value === undefined || isFields(value) ? value : missing(fields, name, "an object");
}

export function list(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) && value.every(isFields) ? value : missing(fields, name, "a list of objects");
}

function isFields(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function missing(fields: Fields, name: string, what: string): never {
  throw notOfTheProtocol(`"${name}" is not ${what}`, JSON.stringify(fields));
}

export function notOfTheProtocol(why: string, line: string): CortexError {
  const shown = line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
  return new CortexError("sub_agent_failed", `A line is not of the sub-agent protocol, ${why}: ${shown}`, {
    hint: "docs/sub-agent-protocol.md says what lines there are; `cortex sub-agent check` tries a program.",
  });
}
