/** How a message of the owner gets in: event, dispatch, queue item and, where the session is idle, its run, in one commit. */
import type { Config } from "../config/config.ts";
import { parseDelivery } from "../delivery/address.ts";
import { toEvent } from "../events/incoming.ts";
import { CortexError } from "../model/errors.ts";
import type { DispatchId, EventId, ItemId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Route } from "../model/target.ts";
import type { Broker } from "../queue/broker.ts";
import { chooseMode } from "../queue/mode.ts";
import { resolveRoute } from "../routing/resolve.ts";
import type { DispatchTarget, NewEvent, Store } from "../store/store.ts";

export interface NewMessage extends Route {
  readonly content: string;
  readonly mode?: string | undefined;
  readonly profile?: string | undefined;
  /** The same key is the same message, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
  /** Where the answer is sent, beside the ledger: `{channel, account?, place, topic?, replyTo?}`. */
  readonly delivery?: Json | undefined;
  /** Through which door it came: `http`, `cli`, `web`. */
  readonly channel?: string | undefined;
}

/** What the sender needs to ask for the outcome. */
export interface Sent {
  readonly event: EventId;
  readonly dispatch: DispatchId;
  readonly item: ItemId;
  readonly session: SessionKey;
}

export interface SendParts {
  readonly store: Store;
  readonly config: Config;
  readonly broker: Broker;
  readonly clock: () => number;
  readonly mintId: () => string;
  /** Refuses a profile that does not exist. */
  readonly checkProfile: (name: string) => void;
}

/** The name of the hook that stands for an explicit target. */
const DIRECT = "direct";
const OWNER = "owner";
const DEFAULT_CHANNEL = "http";

export async function sendMessage(message: NewMessage, parts: SendParts): Promise<Sent> {
  const { store, config, clock, mintId } = parts;
  if (message.content.trim() === "") throw contentEmpty();
  if (message.profile !== undefined) parts.checkProfile(message.profile);
  parseDelivery(message.delivery); // here a mistake costs nothing yet
  const target = await resolveRoute(message, { ledger: store, config, mintId });
  const mode = chooseMode({
    message: message.mode,
    session: await sessionMode(target, store),
    agent: target.kind === "session" ? config.agents[target.agent]?.queueMode : undefined,
    sender: "person",
    config,
  });
  const channel = message.channel ?? DEFAULT_CHANNEL;
  const event = toEvent({
    adapter: channel,
    sourceId: message.idempotencyKey ?? mintId(),
    channel,
    sender: OWNER,
    content: message.content,
    timestampMs: clock(),
  });
  const dispatch = {
    id: mintId() as DispatchId,
    item: mintId() as ItemId,
    hook: DIRECT,
    target,
    mode,
    ...(message.profile === undefined ? {} : { profile: message.profile }),
    ...(message.delivery === undefined ? {} : { delivery: message.delivery }),
  };
  const accepted = await parts.broker.withSlot(async (claim) => {
    const options = claim === undefined ? { dispatch } : { dispatch, claim };
    const result = await store.events.accept(event, options);
    return { result, claim: result.dispatched?.claim };
  });
  if (!accepted.fresh) return repeated(event, store);
  const { item, session } = accepted.dispatched!;
  return { event: event.id, dispatch: dispatch.id, item, session };
}

/** A key that was used before stands for the message that it was used for. */
async function repeated(event: NewEvent, store: Store): Promise<Sent> {
  const [first, dispatches] = await Promise.all([
    store.events.get(event.id),
    store.events.dispatches(event.id),
  ]);
  if (first!.content !== event.content) throw idempotencyConflict(event.id);
  const { id, item, session } = dispatches.find(({ hook }) => hook === DIRECT)!;
  return { event: event.id, dispatch: id, item, session };
}

async function sessionMode(target: DispatchTarget, store: Store): Promise<string | undefined> {
  if (target.kind === "turn") return undefined;
  const mode = (await store.sessions.get(target.session))?.settings["mode"];
  return typeof mode === "string" ? mode : undefined;
}

function contentEmpty(): CortexError {
  return new CortexError("request_invalid", "The message is empty", { hint: "Give it some content." });
}

function idempotencyConflict(event: EventId): CortexError {
  return new CortexError("idempotency_conflict", `Another message was sent before as ${event}`, {
    hint: "Use a new idempotencyKey for a new message.",
  });
}
