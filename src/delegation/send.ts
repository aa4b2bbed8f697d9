/** Sends a message from one agent to another, through the queue, with a sender that no text can forge. */
import { AGENT_ADAPTER } from "../model/event.ts";
import { eventId } from "../model/event-id.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import { dispatchIds } from "../model/ids.ts";
import { present } from "../model/present.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import { MAX_PAGE, type NewDispatch, type Store } from "../store/store.ts";
import { acceptFromAgent, type DelegationPorts, queueingOfAgent } from "./accept.ts";
import { type Caller, causeOf, stampFor } from "./caller.ts";
import { delegationDetail } from "./delegate.ts";
import { areRelated, type SessionTarget } from "./kin.ts";
import { boundBy } from "./narrowing.ts";

/** Agents that work on the same thing hear each other while they work. */
const BETWEEN_RELATIVES: QueueMode = "steer-backlog";

/** Sends once per tool call, even if the call is repeated. */
export async function sendToSession(
  target: SessionTarget,
  content: string,
  caller: Caller,
  ports: DelegationPorts,
): Promise<void> {
  const { context } = caller;
  const { clock, mintId } = ports;
  const cause = await causeOf(caller, ports);
  const { mode, audience, ...terms } = await termsFor(target.session, caller, ports.store);
  await acceptFromAgent(
    {
      id: eventId(AGENT_ADAPTER, { kind: "id", sourceId: context.callKey }),
      channel: AGENT_ADAPTER,
      direction: "sent",
      sender: context.agent,
      content,
      metadata: stampFor("message", caller),
      cause,
      ...present({ audience }),
      atMs: clock(),
    },
    {
      ...dispatchIds(mintId),
      hook: DIRECT_HOOK,
      target,
      ...(await queueingOfAgent(mode, target, ports)),
      ...terms,
      from: context.session,
    },
    ports,
  );
}

interface Terms extends Pick<NewDispatch, "permissions" | "delivery"> {
  readonly mode?: QueueMode;
  readonly audience?: string;
}

/**
 * On whose behalf a message acts. Sent to the session that gave this turn its work: on behalf of the people behind that
 * work, with answers going where they were. Sent to another relative: on behalf of the people behind this turn. Sent to
 * anyone else, it may do no more than its sender. It is heard by who hears the turn that it acts for.
 */
async function termsFor(recipient: SessionKey, caller: Caller, store: Store): Promise<Terms> {
  const { context, kin, items, isByOthers, behalf, audience } = caller;
  const { items: given } = await store.delegations.list({
    caller: recipient,
    session: context.session,
    limit: MAX_PAGE,
  });
  const [work, ...more] = given.filter(({ item }) => items.some(({ id }) => id === item));
  if (work !== undefined && more.length === 0) {
    const { permissions, delivery, audience: heardBy } = delegationDetail(work);
    return { mode: BETWEEN_RELATIVES, ...present({ permissions, delivery, audience: heardBy }) };
  }
  if (!(await areRelated(recipient, kin, store.sessions)))
    return { permissions: boundBy(context.delegable, isByOthers), ...present({ audience }) };
  return { mode: BETWEEN_RELATIVES, ...present({ permissions: behalf, audience }) };
}
