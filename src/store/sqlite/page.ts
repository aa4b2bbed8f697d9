/**
 * Lists, a page at a time. A cursor is the place of the last row that was given out, by the values that
 * the list is ordered by, so that rows which arrive later move nothing.
 */
import { CortexError } from "../../model/errors.ts";
import { DEFAULT_PAGE, type Listed, type ListOptions, MAX_PAGE } from "../store.ts";

/** A place before every other: lists go from the newest to the oldest. */
export const START = Number.MAX_SAFE_INTEGER;

interface Listing<Row, Item> {
  /** Part of its cursors, so that one list does not take another's. */
  readonly name: string;
  readonly options: ListOptions | undefined;
  /** At most `limit` rows that come after a place. */
  readonly find: (after: Place, limit: number) => Row[];
  readonly place: (row: Row) => Place;
  readonly toItem: (row: Row) => Item;
}

/** The value that a list is ordered by, and the key that decides between equals. */
type Place = readonly [value: number, key: number];

export function listPage<Row, Item>(listing: Listing<Row, Item>): Listed<Item> {
  const { name, options = {}, find, place, toItem } = listing;
  const limit = checkPage(options.limit);
  const after = options.cursor === undefined ? ([START, START] as const) : readCursor(name, options.cursor);
  const rows = find(after, limit + 1); // one more tells whether there is another page
  const items = rows.slice(0, limit);
  const next = rows.length > limit ? `${name}.${place(items.at(-1)!).join(".")}` : undefined;
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
  const [list, ...numbers] = cursor.split(".");
  const place = numbers.map(Number);
  const wellFormed = numbers.every((text) => /^-?\d{1,16}$/.test(text)) && place.every(Number.isSafeInteger);
  if (list === name && place.length === 2 && wellFormed) return [place[0]!, place[1]!];
  throw new CortexError("request_invalid", `Invalid cursor ${JSON.stringify(cursor)} for ${name}`, {
    hint: "Pass `next` of the previous page, or omit the cursor to start over.",
  });
}
