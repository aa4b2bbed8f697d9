import { CortexError } from "../model/errors.ts";
import { openLedger } from "../runtime/inspect.ts";
import { type Invocation, text } from "../feature/command.ts";

/** What a home has on record, also while a server writes to it. */
export type Ledger = Awaited<ReturnType<typeof openLedger>>;
export type StoredTurn = NonNullable<Awaited<ReturnType<Ledger["turns"]["get"]>>>;

export { openLedger };

const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 1_000;

/** How many are to be listed. */
export function limitOf(given: Invocation): number {
  const wanted = text(given, "limit") ?? String(DEFAULT_LIMIT);
  const limit = Number(wanted);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new CortexError("usage", `"${wanted}" is not a limit`, {
    hint: `A limit is a number from 1 to ${MAX_LIMIT}.`,
  });
}
