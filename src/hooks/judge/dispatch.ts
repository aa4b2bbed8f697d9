/** What a fired hook becomes: a message to a session, or a relay, with the permissions of whoever sent the event. */
import type { Config } from "../../config/config.ts";
import { deliveriesOf, parseDelivery } from "../../delivery/address.ts";
import type { Fired } from "./judge.ts";
import type { Destination } from "./normalise-result.ts";
import { checkChain } from "../../model/chain.ts";
import { CortexError } from "../../model/errors.ts";
import {
  AGENT_ADAPTER,
  ANSWER_ADAPTER,
  HOOK_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
  splitEventId,
} from "../../model/event.ts";
import type { DispatchId, ItemId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { Route } from "../../model/target.ts";
import { type Grant, grantFor } from "../../personas/authority.ts";
import { resolveRoute } from "../../routing/resolve.ts";
import { sessionOfEvent } from "../../routing/session-of-event.ts";
import type { NewDelivery, NewDispatch, Store, StoredEvent } from "../../store/store.ts";
import { queueing } from "../../intake/messages.ts";
import { keyOfHook } from "../../relay/record/keys.ts";
import type { Relays } from "../../relay/relays.ts";

export interface HookDispatchParts {
  readonly store: Store;
  readonly config: Config;
  readonly clock: () => number;
  readonly mintId: () => string;
  readonly relays: () => Pick<Relays, "run">;
}

/** Of what our own agents say. */
const OURS: ReadonlySet<string> = new Set([
  ANSWER_ADAPTER,
  AGENT_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
  HOOK_ADAPTER,
]);

/** Undefined: the sender is a guest, for whom nothing is done; or it is a relay, and has begun. */
export async function dispatchFor(
  event: StoredEvent,
  hook: string,
  { destination, smart, queueMode, context, delivery }: Fired,
  parts: HookDispatchParts,
): Promise<Omit<NewDispatch, "hook"> | undefined> {
  const { store, config, mintId } = parts;
  const grant = grantOf(event, config);
  if (grant.authority === "guest") return undefined;
  parseDelivery(delivery);
  checkChain(event, config.broker, "chain_ended");
  if (destination.kind === "relay") {
    await startRelay({ event, hook, relay: destination.relay, context, delivery, grant }, parts);
    return undefined;
  }
  const target = await resolveRoute(
    { ...routeTo(destination, { event, grant, config }), ...(smart ? { smart } : {}) },
    { ledger: store, config, mintId },
  );
  const sender = grant.authority === "source" ? "agent" : "person";
  return {
    id: mintId() as DispatchId,
    item: mintId() as ItemId,
    target,
    ...(await queueing({ mode: queueMode, channel: event.channel, sender }, target, parts)),
    ...(Object.keys(context).length === 0 ? {} : { context: context as Json }),
    ...(context.prompt === undefined && context.extracted === undefined
      ? {}
      : { late: lateText(hook, event) }),
    ...(grant.authority === "owner" ? {} : { permissions: grant.permissions }),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

/** What stands below the context of a hook where the turn of its event has begun without it. */
function lateText(hook: string, { content }: StoredEvent): string {
  const said = content === null ? "" : `, on the message: ${firstWords(content)}`;
  return `(Late: the above is what the hook ${hook} has to say${said})`;
}

const MAX_QUOTE_LENGTH = 200;

function firstWords(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return flat.length <= MAX_QUOTE_LENGTH ? flat : `${flat.slice(0, MAX_QUOTE_LENGTH).toWellFormed()}…`;
}

/** What an agent says is nobody's order: it is a source like any other program of the owner's. */
function grantOf(event: StoredEvent, config: Config): Grant {
  return OURS.has(splitEventId(event.id).adapter)
    ? { authority: "source", permissions: { authority: "source" } }
    : grantFor(event, config);
}

interface RelayWish extends Pick<Fired, "context"> {
  readonly delivery: Json | undefined;
  readonly event: StoredEvent;
  readonly hook: string;
  readonly relay: string;
  readonly grant: Exclude<Grant, { authority: "guest" }>;
}

/** Once for an event and a hook, however often the two meet: before the firing is recorded, the process may end. */
async function startRelay(
  { event, hook, relay, context, delivery, grant }: RelayWish,
  { relays, mintId }: HookDispatchParts,
): Promise<void> {
  const { prompt, extracted } = context;
  const message = [prompt, event.content].filter(
    (part) => part !== undefined && part !== null && part !== "",
  );
  if (message.length === 0) throw relayWithoutMessage(relay);
  const [address] = deliveriesOf({ text: "?", source: event, delivery, mintId });
  const request = {
    name: relay,
    message: message.join("\n\n"),
    channel: event.channel,
    cause: event.id,
    idempotencyKey: keyOfHook(event.id, hook),
    metadata: { trigger: "hook", hook, event: event.id, ...(extracted === undefined ? {} : { extracted }) },
    ...(address === undefined ? {} : { delivery: addressOf(address) }),
    ...(grant.authority === "owner" ? {} : { permissions: grant.permissions }),
  };
  try {
    await relays().run(request);
  } catch (error) {
    // Asked again after a crash, a hook may say something else; the relay of the first time goes on.
    if (!(error instanceof CortexError && error.code === "idempotency_conflict")) throw error;
  }
}

/** As a dispatch says it. */
function addressOf({ target, replyTo }: NewDelivery): Json {
  return { ...target, ...(replyTo === undefined ? {} : { replyTo }) };
}

function relayWithoutMessage(relay: string): CortexError {
  return new CortexError("hook_failed", `The relay "${relay}" cannot be started: the event says nothing`, {
    hint: "Return a `context.prompt`: it is what the relay is asked.",
  });
}

function routeTo(
  destination: Exclude<Destination, { kind: "relay" }>,
  { event, grant, config }: { readonly event: StoredEvent; readonly grant: Grant; readonly config: Config },
): Route {
  switch (destination.kind) {
    case "default":
      return { session: sessionOfEvent(event, { isPersons: grant.authority === "paired", config }) };
    case "thread":
      return { thread: destination.thread };
    case "session":
      return { session: destination.session };
    case "persona":
      return { persona: destination.persona };
    case "agent":
      return Object.hasOwn(config.agents, destination.agent)
        ? { session: `agent:${destination.agent}:main` }
        : { persona: destination.agent };
  }
}
