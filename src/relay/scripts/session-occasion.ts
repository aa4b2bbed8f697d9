/** The input of a session script, and the destination of its output. */
import type { Ports } from "../../feature/ports.ts";
import { SCRIPT_ADAPTER } from "../../model/event.ts";
import { type AgentId, dispatchIds, type EventId, type PersonaId, type TurnId } from "../../model/ids.ts";
import { isJsonObject, type Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { present } from "../../model/present.ts";
import { grantFor } from "../../personas/authority.ts";
import type { SessionMoment } from "../templates/session-scripts-file.ts";
import { forkLabel } from "../../routing/resolve.ts";
import { outsideAudience } from "../../turns/audience.ts";
import type { Change, NewDispatch, QueueItem, Store } from "../../store/store.ts";

export interface Occasion {
  readonly moment: SessionMoment;
  readonly session: SessionKey;
  /** The turn that ended, or the last one of the thread that was closed. */
  readonly turn: TurnId | undefined;
  /** The message it answered. */
  readonly cause: EventId | undefined;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  /** Of the person that the turn answered. */
  readonly permissions: Json | undefined;
  readonly delivery: Json | undefined;
  /** Who heard the turn. Undefined: the owner. */
  readonly audience: string | undefined;
  readonly context: SessionScriptContext;
}

/** As JSON on standard input. */
interface SessionScriptContext {
  readonly channel: string;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly executionId: string | null;
  readonly profile: string | null;
  readonly trigger: "new" | "messageEnd";
  readonly timestampIso: string;
}

/** Undefined: the change concerns no script. */
export async function describeOccasion(
  change: Change,
  { store }: Pick<Ports, "store">,
): Promise<Occasion | undefined> {
  if (change.kind !== "turn" && change.kind !== "session") return undefined;
  const moment = change.kind === "turn" ? "onMessageEnd" : "onNew";
  const { session: key, atMs } = change;
  const id = change.kind === "turn" ? change.turn : await closedTurn(key, atMs, store);
  const [session, turn, items] = await Promise.all([
    store.sessions.get(key),
    id === undefined ? undefined : store.turns.get(id),
    id === undefined ? [] : store.queue.itemsOf(id),
  ]);
  if (session === undefined) return undefined;
  const item = await findPersons(items, store);
  if (moment === "onMessageEnd" && item === undefined) return undefined;
  const { agent, persona } = session;
  return {
    moment,
    session: key,
    turn: id,
    cause: item?.event.id,
    agent,
    persona,
    permissions: item?.dispatches.find(({ permissions }) => permissions !== undefined)?.permissions,
    delivery: item === undefined ? undefined : deliveryOf(item),
    audience: outsideAudience(items),
    context: {
      channel: item?.event.channel ?? session.channel ?? "",
      sessionId: key,
      sessionName: key,
      executionId: id ?? null,
      profile: turn?.facts.profile ?? null,
      trigger: moment === "onNew" ? "new" : "messageEnd",
      timestampIso: new Date(atMs).toISOString(),
    },
  };
}

/** The first message that a person wrote, who may still write. */
async function findPersons(
  items: readonly QueueItem[],
  { people }: Pick<Store, "people">,
): Promise<QueueItem | undefined> {
  for (const item of items) {
    if (item.event.direction !== "received") continue;
    const { authority } = await grantFor(item.event, people);
    if (authority === "owner" || authority === "paired") return item;
  }
  return undefined;
}

/** The context as variables, for scripts that do not read JSON. */
export function variablesOf(context: SessionScriptContext): Readonly<Record<string, string>> {
  return {
    CORTEX_HOOK_CHANNEL: context.channel,
    CORTEX_HOOK_SESSION_ID: context.sessionId,
    CORTEX_HOOK_SESSION_NAME: context.sessionName,
    CORTEX_HOOK_TRIGGER: context.trigger,
    CORTEX_HOOK_EXECUTION_ID: context.executionId ?? "",
  };
}

/** After `/new`, the output goes to the thread that was closed, not to the new one. */
export function dispatchOutput(occasion: Occasion, mintId: () => string): NewDispatch {
  const { moment, session, turn, agent, persona, permissions, delivery } = occasion;
  return {
    ...dispatchIds(mintId),
    hook: SCRIPT_ADAPTER,
    target:
      moment === "onNew" && turn !== undefined
        ? { kind: "turn", turn, forkAs: forkLabel(mintId()) }
        : { kind: "session", session, agent, persona },
    mode: "followup",
    ...present({ permissions, delivery }),
  };
}

/** The last turn of a session at the time of its reset, which ends the closed thread. */
async function closedTurn(
  session: SessionKey,
  atMs: number,
  store: Pick<Store, "query">,
): Promise<TurnId | undefined> {
  const [row] = await store.query(
    `select id from agent_turns where session_label = ? and turn_type = 'normal' and completed_at <= ?
     order by completed_at desc, depth desc limit 1`,
    [session, atMs],
  );
  return row?.["id"] as TurnId | undefined;
}

/** The output goes where the answer went. */
function deliveryOf({ event, dispatches }: QueueItem): Json | undefined {
  const wanted = dispatches.find(({ delivery }) => delivery !== undefined)?.delivery;
  const { channel, account, place, topic } = event;
  if (place === undefined) return wanted;
  return { ...present({ channel, place, account, topic }), ...(isJsonObject(wanted) ? wanted : {}) };
}
