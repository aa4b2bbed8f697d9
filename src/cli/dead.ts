/** Dead letters: messages whose turn failed permanently, and deliveries that could not be sent. */
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
  const [id = ""] = args;
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
      `Message:\n${indent(harmless(view.item?.content ?? view.delivery?.content ?? "none"))}`,
      `Error:\n${indent(harmless(view.error))}`,
      print.advice(
        `Run \`cortex dead retry ${id}\` to retry, \`cortex dead drop ${id}\` to discard, \`cortex why ${id}\` to trace it.`,
      ),
    ].join("\n\n"),
  );
}

export async function requestRetry({ home, args, print }: Invocation): Promise<void> {
  const server = await needServer(home);
  const [id = ""] = args;
  const path = `/api/dead/${encodeURIComponent(id)}/retry`;
  const { body } = await ask<{ readonly state: string }>(server, { method: "POST", path });
  print.data(
    body,
    () => `Retrying ${id}: ${body.state === "queued" ? "message queued" : "delivery pending"}.`,
  );
}

export async function requestDrop({ home, args, print }: Invocation): Promise<void> {
  const server = await needServer(home);
  const [id = ""] = args;
  const path = `/api/dead/${encodeURIComponent(id)}`;
  const { body } = await ask(server, { method: "DELETE", path });
  print.data(body, () => `Discarded ${id}.`);
}

/** The session of a message, or the address of a delivery. */
function whereOf({ session, target }: DeadView): string {
  return harmless(target === null ? (session ?? "") : `${target.channel} ${target.place}`);
}
