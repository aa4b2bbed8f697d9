import { CortexError } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";
import type { Cortex } from "../runtime/cortex.ts";
import { type TurnView, turnView } from "../feature/views.ts";

type Store = Cortex["store"];

/** A thread, newest turn first. The cursor is the first turn of the next page, so pages never shift. */
export async function threadPage(
  newest: TurnId,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  store: Store,
): Promise<{ items: TurnView[]; next: string | null }> {
  const from = (cursor ?? newest) as TurnId;
  if (cursor !== undefined && (await store.turns.get(from)) === undefined) throw cursorInvalid(cursor);
  const turns = await store.turns.thread(from, { limit: limit + 1 });
  return { items: await readTurns(turns.slice(0, limit), store), next: turns[limit]?.id ?? null };
}

export async function readTurns(
  turns: readonly { readonly id: TurnId }[],
  store: Store,
): Promise<TurnView[]> {
  const contents = await Promise.all(turns.map(({ id }) => store.turns.read(id)));
  return contents.map((content) => turnView(content!)); // turns are never removed
}

function cursorInvalid(cursor: string): CortexError {
  return new CortexError("request_invalid", `Invalid cursor ${JSON.stringify(cursor.slice(0, 80))}`, {
    hint: "Send `next` from the previous page, or omit the cursor.",
  });
}
