/** Turns a firing into a message to a session or a relay, with the permissions of the event's sender. */
import type { Config } from "../../config/config.ts";
import type { Settings } from "../../config/settings.ts";
import { deliveriesOf, parseDelivery } from "../../delivery/address.ts";
import type { Firing } from "./judge.ts";
import type { HookDestination } from "./normalise-result.ts";
import { isOutside } from "../../model/audience.ts";
import { checkChain } from "../../model/chain.ts";
import { CortexError } from "../../model/errors.ts";
import { dispatchIds } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { RouteWish } from "../../model/target.ts";
import { truncate } from "../../model/truncate.ts";
import { type Grant, grantFor } from "../../personas/authority.ts";
import { resolveRoute, type RoutingPorts } from "../../routing/resolve.ts";
import { routeOfEvent } from "../../routing/route-of-event.ts";
import { sessionOfEvent } from "../../routing/session-of-event.ts";
import type { DispatchTarget, NewDelivery, NewDispatch, StoredEvent } from "../../store/store.ts";
import type { Ports } from "../../feature/ports.ts";
import { queueing } from "../../intake/messages.ts";
import { quotaFor } from "../../intake/person-quota.ts";
import { keyOfHook } from "../../relay/record/keys.ts";
import type { Relays } from "../../relay/relays.ts";
import { audienceAt } from "../../turns/audience.ts";

type DispatchPorts = Pick<Ports, "store" | "clock" | "mintId"> & {
  readonly settings: Pick<Settings, "config">;
  readonly relays: Pick<Relays, "run">;
};

/** As `DispatchFor`. Undefined: the sender is a guest, for whom nothing is done, or a relay was started. */
export async function dispatchOfHook(
  event: StoredEvent,
  hook: string,
  { destination, smart, queueMode, context, delivery }: Firing,
  { store, settings, clock, mintId, relays }: DispatchPorts,
): Promise<Omit<NewDispatch, "hook"> | undefined> {
  const config = settings.config();
  const grant = await grantFor(event, store.people);
  if (grant.authority === "guest") return undefined;
  parseDelivery(delivery);
  checkChain(event, config.broker, "chain_ended");
  if (destination.kind === "relay") {
    const run = { event, hook, relay: destination.relay, context, delivery, grant };
    await startRelay(run, { relays, mintId });
    return undefined;
  }
  const target = await targetOf(destination, smart, event, { store, config, mintId });
  const sender = grant.authority === "source" ? "agent" : "person";
  return {
    ...dispatchIds(mintId),
    target,
    ...(await queueing({ mode: queueMode, source: event, sender }, target, { store, config, clock })),
    ...quotaFor(event, { config, nowMs: clock(), mintId }),
    ...(Object.keys(context).length === 0 ? {} : { context }),
    ...(context.prompt === undefined && context.extracted === undefined
      ? {}
      : { late: lateText(hook, event) }),
    ...(grant.authority === "owner" ? {} : { permissions: grant.permissions }),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

/** Follows the context of a hook that answered after the turn of its event had begun. */
function lateText(hook: string, { content }: StoredEvent): string {
  const said = content === null ? "" : `, on the message: ${firstWords(content)}`;
  return `(Late: the above is from the hook ${hook}${said})`;
}

const MAX_QUOTE_LENGTH = 200;

function firstWords(text: string): string {
  return truncate(text.replaceAll(/\s+/g, " ").trim(), MAX_QUOTE_LENGTH);
}

interface HookRelay extends Pick<Firing, "context"> {
  readonly delivery: Json | undefined;
  readonly event: StoredEvent;
  readonly hook: string;
  readonly relay: string;
  readonly grant: Exclude<Grant, { authority: "guest" }>;
}

/** Starts one relay per event and hook, even if a crash before the firing is recorded makes this run again. */
async function startRelay(
  { event, hook, relay, context, delivery, grant }: HookRelay,
  { relays, mintId }: Pick<DispatchPorts, "relays" | "mintId">,
): Promise<void> {
  const { prompt, extracted } = context;
  const message = [prompt, event.content].filter(
    (part) => part !== undefined && part !== null && part !== "",
  );
  if (message.length === 0) throw relayWithoutMessage(relay);
  const audience = audienceAt(event, delivery);
  const [address] = deliveriesOf({ text: "?", source: event, delivery, mintId });
  const request = {
    name: relay,
    message: message.join("\n\n"),
    channel: event.channel,
    cause: event.id,
    idempotencyKey: keyOfHook(event.id, hook),
    metadata: { trigger: "hook", hook, event: event.id, ...(extracted === undefined ? {} : { extracted }) },
    ...(address === undefined ? {} : { delivery: addressOf(address) }),
    ...(isOutside(audience) ? { audience } : {}),
    ...(event.label === undefined ? {} : { label: event.label }),
    ...(grant.authority === "owner" ? {} : { permissions: grant.permissions }),
  };
  try {
    await relays.run(request);
  } catch (error) {
    // After a crash a hook may answer differently; the relay of its first answer goes on.
    if (!(error instanceof CortexError && error.code === "idempotency_conflict")) throw error;
  }
}

/** The address in the form that dispatches have. */
function addressOf({ target, replyTo }: NewDelivery): Json {
  return { ...target, ...(replyTo === undefined ? {} : { replyTo }) };
}

function relayWithoutMessage(relay: string): CortexError {
  return new CortexError("hook_failed", `Cannot start the relay "${relay}": the event has no content`, {
    hint: "Return a `context.prompt` to tell the relay what to do.",
  });
}

async function targetOf(
  destination: Exclude<HookDestination, { kind: "relay" }>,
  smart: boolean,
  event: StoredEvent,
  ports: RoutingPorts,
): Promise<DispatchTarget> {
  if (destination.kind === "default" && !smart) return (await routeOfEvent(event, ports)).target;
  const route = routeTo(destination, { event, config: ports.config });
  return resolveRoute({ ...route, ...(smart ? { smart } : {}) }, ports);
}

function routeTo(
  destination: Exclude<HookDestination, { kind: "relay" }>,
  { event, config }: { readonly event: StoredEvent; readonly config: Config },
): RouteWish {
  switch (destination.kind) {
    case "default":
      return { session: sessionOfEvent(event, config) };
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
