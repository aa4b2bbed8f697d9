/** Dead letters: messages whose turn failed for good. */
import type { ItemId } from "../model/ids.ts";
import { deadView, itemView } from "../runtime/views.ts";
import { pageOf } from "../server/page.ts";
import type { Invocation } from "./command.ts";
import { type Ledger, limitOf, MAX_LIMIT, openLedger } from "./ledger.ts";
import { ask } from "./ask.ts";
import { needServer } from "./server.ts";
import { count, firstLine, harmless, indent, moment, table } from "./text.ts";
import { itemUnknown } from "./unknown.ts";

const MAX_ERROR_LENGTH = 100;

export async function list(given: Invocation): Promise<void> {
  const limit = limitOf(given);
  await using ledger = await openLedger(given.home);
  const page = pageOf(await ledger.queue.dead({ limit }), deadView);
  given.print.data(page, () => {
    if (page.items.length === 0) return "No dead letters.";
    return table(
      page.items.map(({ id, diedAt, session, error }) => [
        id,
        moment(diedAt),
        session,
        firstLine(error, MAX_ERROR_LENGTH),
      ]),
    );
  });
}

export async function show({ home, args, print }: Invocation): Promise<void> {
  const id = args[0]! as ItemId;
  await using ledger = await openLedger(home);
  const letter = await findLetter(ledger, id);
  const event = await ledger.events.get(letter.event);
  const item = await ledger.queue.item(id);
  const view = { ...deadView(letter), item: item === undefined ? null : itemView(item) };
  print.data(view, () =>
    [
      table([
        ["item", view.id],
        ["session", view.session],
        ["turn", view.turnId],
        ["event", view.eventId],
        ["died", `${moment(view.diedAt)}, after ${count(view.attempts, "attempt")}`],
      ]),
      `The message:\n${indent(harmless(event?.content ?? "nothing"))}`,
      `The error:\n${indent(harmless(view.error))}`,
      `\`cortex dead retry ${id}\` tries it again, \`cortex dead drop ${id}\` gives it up.`,
    ].join("\n\n"),
  );
}

export async function retry({ home, args, print }: Invocation): Promise<void> {
  const server = await needServer(home);
  const path = `/api/dead/${encodeURIComponent(args[0]!)}/retry`;
  const { body } = await ask(server, { method: "POST", path });
  print.data(body, () => `${args[0]} is queued again.`);
}

export async function drop({ home, args, print }: Invocation): Promise<void> {
  const server = await needServer(home);
  const path = `/api/dead/${encodeURIComponent(args[0]!)}`;
  const { body } = await ask(server, { method: "DELETE", path });
  print.data(body, () => `${args[0]} is given up.`);
}

type DeadLetter = Awaited<ReturnType<Ledger["queue"]["dead"]>>["items"][number];

async function findLetter({ queue }: Ledger, id: ItemId): Promise<DeadLetter> {
  let cursor: string | undefined;
  do {
    const page = await queue.dead({ limit: MAX_LIMIT, ...(cursor === undefined ? {} : { cursor }) });
    const found = page.items.find(({ item }) => item === id);
    if (found !== undefined) return found;
    cursor = page.next;
  } while (cursor !== undefined);
  throw itemUnknown(id);
}
