/**
 * Lists, a page at a time. A cursor is the position of the last row returned, by the values that the list is ordered
 * by, so that rows that arrive later shift nothing.
 */
import { CortexError } from "../../model/errors.ts";
import { DEFAULT_PAGE, type Listed, type ListOptions, MAX_PAGE } from "../store.ts";

/** A position before all others: lists go from newest to oldest. */
export const START = Number.MAX_SAFE_INTEGER;

interface Listing<Row, Item> {
  /** Part of its cursors, so that a list rejects another list's cursor. */
  readonly name: string;
  readonly options: ListOptions | undefined;
  /** At most `limit` rows after a position. */
  readonly find: (after: Place, limit: number) => Row[];
  readonly place: (row: Row) => Place;
  readonly toItem: (row: Row) => Item;
}

/** The value that a list is ordered by, and the key that breaks ties. */
type Place = readonly [value: number, key: number];

export function listPage<Row, Item>(listing: Listing<Row, Item>): Listed<Item> {
  const { name, options = {}, find, place, toItem } = listing;
  const limit = checkPage(options.limit);
  const after = options.cursor === undefined ? ([START, START] as const) : readCursor(name, options.cursor);
  const rows = find(after, limit + 1); // one more tells whether there is another page
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  const next = last === undefined ? undefined : `${name}.${place(last).join(".")}`;
  return { items: items.map(toItem), next };
}

export function checkPage(limit = DEFAULT_PAGE): number {
  if (checkCount(limit) <= MAX_PAGE) return limit;
  throw new CortexError("limit_invalid", `Limit ${limit} is too large`, {
    hint: `Use at most ${MAX_PAGE} and request further pages.`,
  });
}

export function checkCount(count: number): number {
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new CortexError("limit_invalid", `Invalid limit ${count}`, {
    hint: "Use an integer of at least 1.",
  });
}

function readCursor(name: string, cursor: string): Place {
  const [list, value, key] = /^([\w-]+)\.(-?\d{1,16})\.(-?\d{1,16})$/.exec(cursor)?.slice(1) ?? [];
  const place = [Number(value), Number(key)] as const;
  if (list === name && place.every(Number.isSafeInteger)) return place;
  throw new CortexError("request_invalid", `Invalid cursor ${JSON.stringify(cursor)} for ${name}`, {
    hint: "Pass `next` from the previous page, or omit the cursor to start over.",
  });
}
