import type { Json } from "../../model/json.ts";
import type { Refusal } from "./operation.ts";

/** The fields that are there: a null of the database is a field that the outside does not have. */
export function defined<T extends object>(
  fields: T,
): { [Name in keyof T]?: Exclude<T[Name], null | undefined> } {
  const present: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) present[name] = value;
  }
  return present as { [Name in keyof T]?: Exclude<T[Name], null | undefined> };
}

export function json(text: string | null): Json | undefined {
  return text === null ? undefined : (JSON.parse(text) as Json);
}

/** A row as the outside has it, if there is one. */
export function maybe<Row, Item>(row: Row | undefined, toItem: (row: Row) => Item): Item | undefined {
  return row === undefined ? undefined : toItem(row);
}

/** What was found under a name; where nothing is, throws what the refusal says. */
export function known<Found>(
  found: Found | undefined,
  unknown: (name: string) => Refusal,
  name: string,
): Found {
  if (found === undefined) throw unknown(name).toError();
  return found;
}
