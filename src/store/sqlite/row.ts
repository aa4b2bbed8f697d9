import assert from "node:assert/strict";

import type { Json } from "../../model/json.ts";
import type { Refusal } from "./operation.ts";

/** The fields that are set: null in the database is a field that is absent outside. */
export function defined<T extends object>(fields: T): Defined<T> {
  const present: Record<string, unknown> = {};
  for (const name in fields) {
    if (fields[name] !== null && fields[name] !== undefined) present[name] = fields[name];
  }
  return present as Defined<T>;
}

type Defined<T> = {
  readonly [Name in keyof T as [T[Name] & (null | undefined)] extends [never] ? Name : never]: T[Name];
} & {
  readonly [Name in keyof T as [T[Name] & (null | undefined)] extends [never] ? never : Name]?: Exclude<
    T[Name],
    null | undefined
  >;
};

/** The named fields of a row that are set. Much faster than `defined` of the rest of a row. */
export function definedOf<Row extends object, Name extends keyof Row & string>(
  row: Row,
  names: readonly Name[],
): Defined<Pick<Row, Name>> {
  const present: Record<string, unknown> = {};
  for (const name of names) {
    if (row[name] !== null && row[name] !== undefined) present[name] = row[name];
  }
  return present as Defined<Pick<Row, Name>>;
}

/** The named fields of a row, with undefined for null. */
export function orUndefined<Row extends object, Name extends keyof Row & string>(
  row: Row,
  names: readonly Name[],
): WithoutNull<Pick<Row, Name>> {
  const fields: Record<string, unknown> = {};
  for (const name of names) fields[name] = row[name] ?? undefined;
  return fields as WithoutNull<Pick<Row, Name>>;
}

type WithoutNull<Row> = {
  readonly [Name in keyof Row]: null extends Row[Name] ? Exclude<Row[Name], null> | undefined : Row[Name];
};

export function parseJson(text: string): Json;
export function parseJson(text: string | null): Json | undefined;
export function parseJson(text: string | null): Json | undefined {
  return text === null ? undefined : (JSON.parse(text) as Json);
}

/** The item made of a row, if there is one. */
export function maybe<Row, Item>(row: Row | undefined, toItem: (row: Row) => Item): Item | undefined {
  return row === undefined ? undefined : toItem(row);
}

/** A row that must exist, because another row refers to it or the query always returns one. */
export function required<Row>(row: Row | undefined): Row {
  assert(row !== undefined);
  return row;
}

/** The row of a name. Throws the refusal if there is none. */
export function known<Row>(row: Row | undefined, unknown: (name: string) => Refusal, name: string): Row {
  if (row === undefined) throw unknown(name).toError();
  return row;
}
