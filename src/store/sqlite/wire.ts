/**
 * How operations travel to the writer thread: flat lists of cells, because cloning one long list is
 * cheaper than cloning many small objects. A codec writes a value as a fixed sequence of cells and reads
 * it back; both sides use the same codec, so the sequence is described once.
 */
import { CortexError } from "../../model/errors.ts";
import type { Redact } from "../../model/redact.ts";
import { redactJson } from "./redact-json.ts";

export type Cell = string | number | null;

export interface Codec<T, In = T> {
  /** Redacts secrets on the way: nothing reaches the writer unredacted. */
  write(value: In, out: Cell[], redact: Redact): void;
  read(cells: Cursor): T;
}

/** The type that a codec reads. */
export type Decoded<C> = C extends Codec<infer T, infer _> ? T : never;
/** The type that a codec writes: a value that may be undefined can be left out. */
type Encoded<C> = C extends Codec<infer _, infer In> ? In : never;

/** A position in a list of cells. */
interface Cursor {
  readonly cells: readonly Cell[];
  at: number;
}

/** Ids and names that rows are found by. They come from Cortex or its configuration and are not redacted. */
export const text: Codec<string> = cell(checkText);
export const textOrNull: Codec<string | null, string | null | undefined> = cell(orNull(checkText));
/** Text of people, models, tools or platforms, which is redacted. */
export const words: Codec<string> = cell(redactWords);
export const wordsOrNull: Codec<string | null, string | null | undefined> = cell(orNull(redactWords));
/** Redacted canonical JSON. */
export const json: Codec<string> = cell(redactText);
export const jsonOrNull: Codec<string | null, string | null | undefined> = cell(orNull(redactText));
export const number: Codec<number> = cell(checkInteger);
export const numberOrNull: Codec<number | null, number | null | undefined> = cell(orNull(checkInteger));
export const real: Codec<number> = cell(checkReal);
export const realOrNull: Codec<number | null, number | null | undefined> = cell(orNull(checkReal));

/** Text of a narrower type: an id, a state. */
export function textOf<T extends string>(): Codec<T> {
  return text as Codec<T>;
}

export function textOrNullOf<T extends string>(): Codec<T | null, T | null | undefined> {
  return textOrNull as Codec<T | null, T | null | undefined>;
}

/** The same for redacted text: a principal has the name that its platform gave it. */
export function wordsOrNullOf<T extends string>(): Codec<T | null, T | null | undefined> {
  return wordsOrNull as Codec<T | null, T | null | undefined>;
}

type Fields = Readonly<Record<string, Codec<unknown>>>;

export type DecodedFields<F> = { readonly [Name in keyof F]: Decoded<F[Name]> };

type Optional<F> = { [Name in keyof F]: undefined extends Encoded<F[Name]> ? Name : never }[keyof F];

type EncodedFields<F> = { readonly [Name in Exclude<keyof F, Optional<F>>]: Encoded<F[Name]> } & {
  readonly [Name in Optional<F>]?: Encoded<F[Name]>;
};

/** Writes the fields of an object, and no others that it may have. */
export function record<F extends Fields>(fields: F): Codec<DecodedFields<F>, EncodedFields<F>> {
  const codecs = Object.entries(fields).map(([name, codec]) => ({ name, codec }));
  return {
    write(value, out, redact) {
      for (const { name, codec } of codecs) codec.write((value as never)[name], out, redact);
    },
    read(cells) {
      const value: Record<string, unknown> = {};
      for (const { name, codec } of codecs) value[name] = codec.read(cells);
      return value as DecodedFields<F>;
    },
  };
}

export function list<T, In>(item: Codec<T, In>): Codec<readonly T[], readonly In[]> {
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

export function optional<T, In>(inner: Codec<T, In>): Codec<T | undefined, In | undefined> {
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

function cell<T extends Cell, In = T>(check: (value: In, redact: Redact) => T): Codec<T, In> {
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
 * A lone surrogate, from text cut inside an emoji, cannot be stored as UTF-8. It becomes the replacement character
 * here, before anything is hashed or compared.
 */
function checkText(value: string): string {
  if (typeof value === "string") return value.toWellFormed();
  throw invalid(value, "a string");
}

function redactWords(value: string, redact: Redact): string {
  return redact(checkText(value));
}

function redactText(value: string, redact: Redact): string {
  return redactJson(checkText(value), redact);
}

function orNull<T>(check: (value: T, redact: Redact) => T) {
  return (value: T | null | undefined, redact: Redact): T | null =>
    value === null || value === undefined ? null : check(value, redact);
}

/** SQLite would store NaN as null, and a null time never comes. */
function checkInteger(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw invalid(value, "an integer");
}

function checkReal(value: number): number {
  if (Number.isFinite(value)) return value;
  throw invalid(value, "a number");
}

function invalid(value: unknown, expected: string): CortexError {
  return new CortexError("limit_invalid", `Expected ${expected}, got ${String(value)}`, {
    hint: "Nothing was written.",
  });
}
