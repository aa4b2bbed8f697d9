/** How a message of the owner gets in: event, dispatch, queue item and, where the session is idle, its run, in one commit. */
import { conversationOn } from "../config/channel-accounts.ts";
import type { Config } from "../config/config.ts";
import { parseDelivery } from "../delivery/address.ts";
import { toMessageEvent } from "../events/incoming.ts";
import { CortexError } from "../model/errors.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import type { DispatchId, EventId, ItemId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { OWNER_PRINCIPAL } from "../model/principal.ts";
import { parseQueueMode } from "../model/queue-mode.ts";
import { present } from "../model/present.ts";
import type { Caller } from "../model/scopes.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Instant } from "../model/spans.ts";
import type { RouteWish } from "../model/target.ts";
import { type QueueWishes, resolveQueue } from "../queue/settings.ts";
import { resolveRoute } from "../routing/resolve.ts";
import type { DispatchTarget, NewDispatch, NewEvent, Settings, Store } from "../store/store.ts";
import type { Intake } from "./intake.ts";

export interface NewMessage extends RouteWish {
  readonly content: string;
  readonly mode?: string | undefined;
  readonly profile?: string | undefined;
  /** The same key is the same message, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
  /** Where the answer is sent, beside the ledger: `{channel, account?, place, topic?, replyTo?}`. */
  readonly delivery?: Json | undefined;
  /** With `delivery`: the message there that it replies to, by the platform's id or by that of the delivery. */
  readonly replyTo?: string | undefined;
  /** Through which door it came: `http`, `cli`, `web`. */
  readonly channel?: string | undefined;
  /** Who sends it: what a command in it may do, and the token that is recorded with it. Absent: the owner. */
  readonly caller?: Caller;
  /** When its request came. Absent: now. */
  readonly received?: Instant;
}

/** What the sender needs to ask for the outcome. */
export interface Sent {
  readonly event: EventId;
  readonly dispatch: DispatchId;
  readonly item: ItemId;
  readonly session: SessionKey;
  /** It will have no turn: the policy by which it was dropped. */
  readonly dropped?: string;
}

const OWNER = "owner";
const DEFAULT_CHANNEL = "http";

/** What a command leaves to be sent: the lines below it, and what it replied. */
interface BelowCommand {
  readonly content: string;
  readonly reply: string;
}

export async function sendMessage(message: NewMessage, intake: Intake, below?: BelowCommand): Promise<Sent> {
  const { store, settings, mintId, spans } = intake;
  const { received = spans.now() } = message;
  const config = settings.config();
  checkMessage(message, intake);
  const target = await resolveRoute(message, { store, config, mintId });
  const event = eventOf(message, intake, below?.reply);
  const dispatch: NewDispatch = {
    id: mintId() as DispatchId,
    item: mintId() as ItemId,
    hook: DIRECT_HOOK,
    target,
    ...(await queueing(
      { mode: message.mode, source: { channel: channelOf(message) }, sender: "person" },
      target,
      {
        store,
        config,
        clock: intake.clock,
      },
    )),
    ...(below === undefined ? {} : { message: below.content }),
    ...(message.profile === undefined ? {} : { profile: message.profile }),
    ...(message.delivery === undefined ? {} : { delivery: message.delivery }),
  };
  const judge = intake.isJudged("received", event.channel);
  const accepted = await intake.slots.withSlot(async (claim) => {
    const options = {
      dispatch: judge ? { ...dispatch, gatherMs: config.hooks.gatherMs } : dispatch,
      judge,
      ...(claim === undefined ? {} : { claim }),
    };
    const result = await store.events.accept(event, options);
    if (result.fresh) {
      spans.mark(event.id, "received", received);
      spans.mark(event.id, "accepted");
    }
    return { result, claim: result.dispatched?.claim };
  });
  if (!accepted.fresh) return repeated(event, store);
  const { item, session, outcome } = accepted.dispatched!;
  const sent = { event: event.id, dispatch: dispatch.id, item, session };
  return outcome === "dropped" ? { ...sent, ...(await droppedBy(item, store)) } : sent;
}

/** Refuses what cannot be sent, while a mistake costs nothing yet. */
export function checkMessage(message: NewMessage, { settings }: Pick<Intake, "settings">): void {
  if (message.content.trim() === "") throw contentEmpty();
  if (message.profile !== undefined) settings.profile(message.profile); // throws for one that does not exist
  if (message.mode !== undefined) parseQueueMode(message.mode);
  parseDelivery(message.delivery);
}

/** The event that a message of the owner is; with a reply where a command in it was replied to. */
export function eventOf(
  message: NewMessage,
  { clock, mintId, store }: Pick<Intake, "clock" | "mintId" | "store">,
  reply?: string,
): NewEvent {
  const channel = channelOf(message);
  const event = toMessageEvent({
    adapter: channel,
    sourceId: message.idempotencyKey ?? mintId(),
    channel,
    sender: OWNER,
    ...present({ token: message.caller?.token }),
    content: message.content,
    ...(reply === undefined ? {} : { metadata: { reply } }),
    timestampMs: clock(),
  });
  return { ...event, id: store.events.keptId(event.id), principal: OWNER_PRINCIPAL };
}

export function channelOf({ channel = DEFAULT_CHANNEL }: NewMessage): string {
  return channel;
}

/** A key that was used before stands for the message that it was used for. */
export async function repeated(event: NewEvent, store: Store): Promise<Sent> {
  const [first, dispatches] = await Promise.all([
    store.events.get(event.id),
    store.events.dispatches(event.id),
  ]);
  const direct = dispatches.find(({ hook }) => hook === DIRECT_HOOK);
  if (first!.content !== event.content || direct === undefined) throw idempotencyConflict(event.id);
  const { id, item, session } = direct;
  return { event: event.id, dispatch: id, item, session, ...(await droppedBy(item, store)) };
}

interface QueueingWishes extends Pick<QueueWishes, "mode" | "sender"> {
  /** Where the message came from. */
  readonly source: { readonly channel: string; readonly account?: string | undefined };
}

/** How a message meets a session that is busy. */
export async function queueing(
  { mode: wished, source, sender }: QueueingWishes,
  target: DispatchTarget,
  { store, config, clock }: Pick<Intake, "store" | "clock"> & { readonly config: Config },
): Promise<Pick<NewDispatch, "mode" | "dueMs" | "cap" | "drains">> {
  const { settings } = resolveQueue({
    mode: wished,
    session: await sessionSettings(target, store),
    channel: source.channel,
    accountMode: conversationOn(config, source)?.queueMode,
    agent: target.kind === "session" ? target.agent : undefined,
    sender,
    config,
  });
  const { mode, debounceMs, cap, drop, onInterrupt } = settings;
  return {
    mode,
    cap: { max: cap, drop },
    ...(mode === "collect" ? { dueMs: clock() + debounceMs } : {}),
    ...(mode === "interrupt" && onInterrupt === "drop" ? { drains: "drop" } : {}),
  };
}

async function sessionSettings(target: DispatchTarget, store: Store): Promise<Settings | undefined> {
  return target.kind === "turn" ? undefined : (await store.sessions.get(target.session))?.settings;
}

async function droppedBy(item: ItemId, store: Store): Promise<{ dropped?: string }> {
  const outcome = await store.queue.outcome(item);
  return outcome?.state === "dropped" ? { dropped: outcome.policy ?? "unknown" } : {};
}

function contentEmpty(): CortexError {
  return new CortexError("request_invalid", "The message is empty", { hint: "Add some content." });
}

export function idempotencyConflict(event: EventId): CortexError {
  return new CortexError(
    "idempotency_conflict",
    `The idempotency key was already used for another message, ${event}`,
    {
      hint: "Use a new idempotencyKey for a new message.",
    },
  );
}
