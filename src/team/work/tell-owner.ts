/** The coordinator's reports to the owner, and its session's answers about flags. */
import { hash } from "node:crypto";

import type { DeliveryId, ItemId } from "../../model/ids.ts";
import { SILENCE } from "../../model/reply-tool.ts";
import type { DeliveryTarget } from "../../store/store.ts";
import type { Notice } from "./order-notice.ts";
import { readTurnEnd } from "./work-end.ts";
import type { Workplace } from "./workplace.ts";

const TELEGRAM = "telegram";

/** Sends a text to the owner. Idempotent by `key`. */
export async function tellOwner(key: string, text: string, place: Workplace): Promise<void> {
  const target = reportTarget(place);
  if (target === undefined) return place.log(text.trimEnd());
  const digest = hash("sha256", `${place.team.root}\n${key}`).slice(0, 24);
  await place.store.outbox.notify({ id: `team-${digest}` as DeliveryId, target, content: text });
}

/** Sends notices to the coordinator's session, and its answers to the owner. Each notice is sent once. */
export async function askCoordinator(notices: readonly Notice[], place: Workplace): Promise<void> {
  const target = reportTarget(place);
  const sent: ItemId[] = [];
  for (const notice of notices) sent.push(...(await send(notice, target, place)));
  if (sent.length === 0 || target !== undefined) return;
  logAnswers(sent, place).catch((error: unknown) => {
    if (!place.closing.aborted)
      place.log(`The coordinator's answer is only in its session: ${String(error)}`);
  });
}

/** The team's chat, else the configured `admin`. Undefined: the log. */
function reportTarget({ team, channels, settings }: Workplace): DeliveryTarget | undefined {
  const { telegramChatId } = team.config;
  const isChat = telegramChatId !== undefined && channels().includes(TELEGRAM);
  return isChat ? { channel: TELEGRAM, place: telegramChatId } : settings.config().admin;
}

/** The coordinator's session inherits the trust marks of the member's session, whose words the notice repeats. */
async function send(
  { event, dispatch, from }: Notice,
  target: DeliveryTarget | undefined,
  { store, slots }: Workplace,
): Promise<ItemId[]> {
  const isKnown = (await store.sessions.get(from)) !== undefined;
  const marked = {
    ...dispatch,
    ...(target === undefined ? {} : { delivery: { ...target } }),
    ...(isKnown ? { from } : {}),
  };
  const { fresh, dispatched } = await slots.withSlot(async (claim) => {
    const result = await store.events.accept(event, {
      dispatch: marked,
      ...(claim === undefined ? {} : { claim }),
    });
    return { result, claim: result.dispatched?.claim };
  });
  return fresh && dispatched !== undefined ? [dispatched.item] : [];
}

/** One turn may answer several notices. */
async function logAnswers(
  items: readonly ItemId[],
  { store, outcomes, closing, log }: Workplace,
): Promise<void> {
  const ends = items.map(async (item) => {
    await outcomes.wait(item, closing);
    return readTurnEnd(item, store);
  });
  const answers = (await Promise.all(ends)).flatMap((end) =>
    end?.kind === "done" ? [end.summary.trim()] : [],
  );
  for (const answer of new Set(answers)) if (answer !== SILENCE && answer !== "") log(answer);
}
