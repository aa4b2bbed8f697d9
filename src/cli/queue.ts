import { normalizeSessionKey } from "../model/session-key.ts";
import { itemView } from "../feature/views.ts";
import { pageOf } from "../feature/page.ts";
import type { Invocation } from "../feature/command.ts";
import { limitOf, openLedger } from "../client/ledger.ts";
import { firstLine, moment, table } from "../terminal/text.ts";

const MAX_CONTENT_LENGTH = 60;

export async function listQueue(given: Invocation): Promise<void> {
  const limit = limitOf(given);
  const [session] = given.args;
  await using ledger = await openLedger(given.home);
  const where = session === undefined ? {} : { session: normalizeSessionKey(session) };
  const page = pageOf(await ledger.queue.list({ limit, ...where }), itemView);
  given.print.data(page, () => {
    if (page.items.length === 0) return "The queue is empty.";
    return table(
      page.items.map(({ id, queuedAt, session, mode, content }) => [
        id,
        moment(queuedAt),
        session,
        mode,
        firstLine(content ?? "", MAX_CONTENT_LENGTH),
      ]),
    );
  });
}
