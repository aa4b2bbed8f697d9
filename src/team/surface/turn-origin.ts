/** Whom a turn acts for, judging by the messages that it answers. */
import { causeOf } from "../../delegation/caller.ts";
import type { Ports } from "../../feature/ports.ts";
import {
  AGENT_ADAPTER,
  ANSWER_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  splitEventId,
  TEAM_ADAPTER,
} from "../../model/event.ts";
import type { EventId } from "../../model/ids.ts";
import type { ToolContext } from "../../model/tool.ts";
import type { QueueItem } from "../../store/store.ts";
import { boundBy } from "../../delegation/narrowing.ts";
import { joinLabels, NO_LABEL, readTrust } from "../../model/trust.ts";
import { audienceOfTurn, principalOfTurn } from "../../turns/audience.ts";
import type { TaskWords } from "../work/task-labels.ts";
import type { TaskOrigin } from "../work/worker.ts";
import { isByOthers } from "../../turns/setup.ts";
import { isNotice } from "../work/order-notice.ts";

/** Messages from agents are never a person's instruction. */
const BY_AGENTS: ReadonlySet<string> = new Set([
  ANSWER_ADAPTER,
  AGENT_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
]);

/** Whether a person asked for what the turn does. */
export async function isByPerson({ turn }: ToolContext, { store }: Ports): Promise<boolean> {
  const items = await store.queue.itemsOf(turn);
  if (isByOthers(items) || items.some((item) => BY_AGENTS.has(adapterOf(item)))) return false;
  return items.some(({ event }) => !isNotice(event)); // a flag notice requests nothing
}

/** Whether the turn works on a task. */
export async function isOnTask({ turn }: ToolContext, { store }: Ports): Promise<boolean> {
  const items = await store.queue.itemsOf(turn);
  return items.some((item) => adapterOf(item) === TEAM_ADAPTER && !isNotice(item.event));
}

/** The event that the turn answers, as the cause of its actions. Throws if its chain of events has reached the limit. */
async function causeOfTurn(context: ToolContext, ports: Ports): Promise<EventId> {
  const items = await ports.store.queue.itemsOf(context.turn);
  return causeOf({ context, items }, ports);
}

/** Whose words an agent puts into the team's files: those of its session, told to whom its turn speaks. */
async function wordsOfTurn({ session, turn, delegable }: ToolContext, { store }: Ports): Promise<TaskWords> {
  const [items, stored] = await Promise.all([store.queue.itemsOf(turn), store.sessions.get(session)]);
  const { outward: _, ...label } = readTrust(stored?.settings ?? {});
  const isOthers = isByOthers(items);
  return {
    label: joinLabels(label, { ...NO_LABEL, private: [audienceOfTurn(items)] }),
    principal: principalOfTurn(items),
    permissions: isOthers ? boundBy(delegable, isOthers) : undefined,
  };
}

/** Where a task comes from that the turn dispatches. Throws as `causeOfTurn`. */
export async function originOfTask(context: ToolContext, ports: Ports): Promise<TaskOrigin> {
  const [cause, words] = await Promise.all([causeOfTurn(context, ports), wordsOfTurn(context, ports)]);
  return { cause, words, turn: context.turn };
}

function adapterOf({ event }: QueueItem): string {
  return splitEventId(event.id).adapter;
}
