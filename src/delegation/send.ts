/** A message from one agent to another, through the queue like any other, and with a sender that no text can forge. */
import { AGENT_ADAPTER, eventId } from "../model/event.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import type { DispatchId, ItemId } from "../model/ids.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import { asMetadata } from "../model/stamp.ts";
import { MAX_PAGE, type NewDispatch } from "../store/store.ts";
import { type Caller, causeOf, stampFor } from "./caller.ts";
import { detailOf } from "./delegate.ts";
import { areRelated, type SessionTarget } from "./kin.ts";
import { boundBy } from "./narrowing.ts";
import type { DelegationParts } from "./parts.ts";

/** Between those who work on the same thing: it is heard while they do. */
const BETWEEN_RELATIVES: QueueMode = "steer-backlog";

/** Once for each call, however often it is made. */
export async function sendToSession(
  target: SessionTarget,
  content: string,
  caller: Caller,
  parts: DelegationParts,
): Promise<void> {
  const { context } = caller;
  const { clock, mintId } = parts;
  const cause = await causeOf(caller, parts);
  const { mode, ...terms } = await termsFor(target.session, caller, parts);
  await parts.accept(
    {
      id: eventId(AGENT_ADAPTER, { kind: "id", sourceId: context.callKey }),
      channel: AGENT_ADAPTER,
      direction: "sent",
      sender: context.agent,
      content,
      metadata: asMetadata(stampFor("message", caller)),
      cause,
      atMs: clock(),
    },
    {
      id: mintId() as DispatchId,
      item: mintId() as ItemId,
      hook: DIRECT_HOOK,
      target,
      ...(await parts.queueing(mode, target)),
      ...terms,
      from: context.session,
    },
  );
}

interface Terms extends Pick<NewDispatch, "permissions" | "delivery"> {
  readonly mode?: QueueMode;
}

/**
 * For whom a message acts. To whoever has given the work that this turn does: for those who had a say in that, and
 * answered to where they were. To other relatives, for those who have a say in this turn. To all others it may do
 * no more than its sender.
 */
async function termsFor(recipient: SessionKey, caller: Caller, { store }: DelegationParts): Promise<Terms> {
  const { context, kin, items, isByOthers, behalf } = caller;
  const { items: given } = await store.delegations.list({
    caller: recipient,
    session: context.session,
    limit: MAX_PAGE,
  });
  const [work, ...more] = given.filter(({ item }) => items.some(({ id }) => id === item));
  if (work !== undefined && more.length === 0) {
    const { permissions, delivery } = detailOf(work);
    return {
      mode: BETWEEN_RELATIVES,
      ...(permissions === undefined ? {} : { permissions }),
      ...(delivery === undefined ? {} : { delivery }),
    };
  }
  if (!(await areRelated(recipient, kin, store.sessions)))
    return { permissions: boundBy(context.delegable, isByOthers) };
  return { mode: BETWEEN_RELATIVES, ...(behalf === undefined ? {} : { permissions: behalf }) };
}
