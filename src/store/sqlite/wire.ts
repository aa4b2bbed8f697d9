/**
 * How operations travel to the writer thread: flat lists of cells, because cloning one long list is
 * cheaper than cloning many small objects. A codec writes a value as a fixed sequence of cells and reads
 * it back; both sides use the same codec, so the sequence is described once.
 */
import { CortexError } from "../../model/errors.ts";
import type { Redact } from "../../model/redact.ts";
import { redactJson } from "./redact-json.ts";

export type Cell = string | number | null;

export interface Codec<T> {
  /** Secrets are taken out on the way: nothing that was not redacted reaches the writer. */
  write(value: T, out: Cell[], redact: Redact): void;
  read(cells: Cursor): T;
}

/** The values that a codec is for. */
export type Decoded<C> = C extends Codec<infer T> ? T : never;

/** A place in a list of cells. */
interface Cursor {
  readonly cells: readonly Cell[];
  at: number;
}

/** Ids and names that rows are found by. They are Cortex's own or the configuration's, and are kept as they are. */
export const text: Codec<string> = cell(checkText);
export const textOrNull: Codec<string | null> = cell(orNull(checkText));
/** What somebody said: people, models, tools, platforms. */
export const words: Codec<string> = cell(redactWords);
export const wordsOrNull: Codec<string | null> = cell(orNull(redactWords));
/** The same as canonical JSON, which it stays. */
export const json: Codec<string> = cell(redactText);
export const jsonOrNull: Codec<string | null> = cell(orNull(redactText));
export const number: Codec<number> = cell(checkInteger);
export const numberOrNull: Codec<number | null> = cell(checkInteger);
export const realOrNull: Codec<number | null> = cell(checkReal);

export function record<T extends object>(fields: { readonly [Name in keyof T]: Codec<T[Name]> }): Codec<
  Readonly<T>
> {
  const names = Object.keys(fields);
  const codecs = Object.values<Codec<unknown>>(fields);
  return {
    write(value, out, redact) {
      for (let i = 0; i < names.length; i++) {
        codecs[i]!.write((value as Record<string, unknown>)[names[i]!], out, redact);
      }
    },
    read(cells) {
      const value: Record<string, unknown> = {};
      for (let i = 0; i < names.length; i++) value[names[i]!] = codecs[i]!.read(cells);
      return value as never;
    },
  };
}

export function list<T>(item: Codec<T>): Codec<readonly T[]> {
  return {
    write(values, out, redact) {
      out.push(values.length);
      for (const value of values) item.write(value, out, redact);
    },
    read(cells) {
      const length = cells.cells[cells.at++] as number;
      const values: T[] = [];
      for (let i = 0; i < length; i++) values.push(item.read(cells));
      return values;
    },
  };
}

export function optional<T>(inner: Codec<T>): Codec<T | undefined> {
  return {
    write(value, out, redact) {
      out.push(value === undefined ? 0 : 1);
      if (value !== undefined) inner.write(value, out, redact);
    },
    read(cells) {
      return cells.cells[cells.at++] === 1 ? inner.read(cells) : undefined;
    },
  };
}

function cell<T extends Cell>(check: (value: T, redact: Redact) => T): Codec<T> {
  return {
    write(value, out, redact) {
      out.push(check(value, redact));
    },
    read(cells) {
      return cells.cells[cells.at++] as T;
    },
  };
}

/**
 * Half a surrogate pair, from a text that was cut inside an emoji, cannot be stored as UTF-8. It becomes
 * the replacement character here, before anything is hashed or compared.
 */
function checkText(value: string): string {
  if (typeof value === "string") return value.toWellFormed();
  throw invalid(value, "a text");
}

function redactWords(value: string, redact: Redact): string {
  return redact(checkText(value));
}

function redactText(value: string, redact: Redact): string {
  return redactJson(checkText(value), redact);
}

function orNull(check: (value: string, redact: Redact) => string) {
  return (value: string | null, redact: Redact): string | null =>
    value === null ? null : check(value, redact);
}

/** SQLite would store NaN as null, and a moment that is null never comes. */
function checkInteger<T extends number | null>(value: T): T {
  if (value === null || Number.isSafeInteger(value)) return value;
  throw invalid(value, "a whole number");
}

function checkReal(value: number | null): number | null {
  if (value === null || Number.isFinite(value)) return value;
  throw invalid(value, "a number");
}

function invalid(value: unknown, expected: string): CortexError {
  return new CortexError("limit_invalid", `${String(value)} stands where ${expected} belongs`, {
    hint: "Give the store plain values; nothing of this call was written.",
  });
}
