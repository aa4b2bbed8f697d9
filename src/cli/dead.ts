/** Dead letters: messages whose turn failed for good, and deliveries that did not leave. */
import { readDead } from "../insight/dead.ts";
import { deadView } from "../feature/views.ts";
import { pageOf } from "../feature/page.ts";
import { ask } from "../client/ask.ts";
import type { Invocation } from "../feature/command.ts";
import { limitOf, openLedger } from "../client/ledger.ts";
import { needServer } from "../client/server.ts";
import { count, firstLine, harmless, indent, moment, table } from "../terminal/text.ts";

const MAX_ERROR_LENGTH = 100;

type DeadView = ReturnType<typeof deadView>;

export async function listDead(given: Invocation): Promise<void> {
  const limit = limitOf(given);
  await using ledger = await openLedger(given.home);
  const page = pageOf(await ledger.dead.list({ limit }), deadView);
  given.print.data(page, () => {
    if (page.items.length === 0) return "No dead letters.";
    return table(
      page.items.map((letter) => [
        letter.id,
        moment(letter.diedAt),
        letter.kind,
        whereOf(letter),
        firstLine(letter.error, MAX_ERROR_LENGTH),
      ]),
    );
  });
}

export async function showDead({ home, args, print }: Invocation): Promise<void> {
  const id = args[0]!;
  await using ledger = await openLedger(home);
  const view = await readDead(id, ledger);
  print.data(view, () =>
    [
      table([
        [view.kind, view.id],
        [view.kind === "message" ? "session" : "to", whereOf(view)],
        ["turn", view.turnId ?? "none"],
        ["event", view.eventId ?? "none"],
        ["died", `${moment(view.diedAt)}, after ${count(view.attempts, "attempt")}`],
      ]),
      `The message:\n${indent(harmless(view.item?.content ?? view.delivery?.content ?? "nothing"))}`,
      `The error:\n${indent(harmless(view.error))}`,
      print.advice(
        `\`cortex dead retry ${id}\` tries it again, \`cortex dead drop ${id}\` gives it up, \`cortex why ${id}\` tells all.`,
      ),
    ].join("\n\n"),
  );
}

export async function requestRetry({ home, args, print }: Invocation): Promise<void> {
  const server = await needServer(home);
  const path = `/api/dead/${encodeURIComponent(args[0]!)}/retry`;
  const { body } = await ask(server, { method: "POST", path });
  const { state } = body as { state: string };
  print.data(body, () => `${args[0]} is ${state === "queued" ? "queued" : "to be sent"} again.`);
}

export async function requestDrop({ home, args, print }: Invocation): Promise<void> {
  const server = await needServer(home);
  const path = `/api/dead/${encodeURIComponent(args[0]!)}`;
  const { body } = await ask(server, { method: "DELETE", path });
  print.data(body, () => `${args[0]} is given up.`);
}

/** A message died in its session, a delivery on its way to a place. */
function whereOf({ session, target }: DeadView): string {
  return harmless(target === null ? (session ?? "") : `${target.channel} ${target.place}`);
}
