/** What a fired hook becomes: a message to a session, with the permissions of whoever sent the event. */
import type { Config } from "../config/config.ts";
import { parseDelivery } from "../delivery/address.ts";
import type { Fired } from "../hooks/judge.ts";
import type { Destination } from "../hooks/normalise-result.ts";
import { CortexError } from "../model/errors.ts";
import { AGENT_ADAPTER, ANSWER_ADAPTER, splitEventId } from "../model/event.ts";
import type { DispatchId, ItemId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Route } from "../model/target.ts";
import { type Grant, grantFor } from "../personas/authority.ts";
import { resolveRoute } from "../routing/resolve.ts";
import type { NewDispatch, Store, StoredEvent } from "../store/store.ts";
import { queueing } from "./messages.ts";

export interface HookDispatchParts {
  readonly store: Store;
  readonly config: Config;
  readonly clock: () => number;
  readonly mintId: () => string;
}

/** Of what our own agents say. */
const OURS: ReadonlySet<string> = new Set([ANSWER_ADAPTER, AGENT_ADAPTER]);

/** Undefined: the sender is a guest, for whom nothing is done. */
export async function dispatchFor(
  event: StoredEvent,
  { destination, smart, queueMode, context, delivery }: Fired,
  parts: HookDispatchParts,
): Promise<Omit<NewDispatch, "hook"> | undefined> {
  const { store, config, mintId } = parts;
  const grant = grantOf(event, config);
  if (grant.authority === "guest") return undefined;
  parseDelivery(delivery);
  const target = await resolveRoute(
    { ...routeTo(destination, config), ...(smart ? { smart } : {}) },
    { ledger: store, config, mintId },
  );
  const sender = grant.authority === "source" ? "agent" : "person";
  return {
    id: mintId() as DispatchId,
    item: mintId() as ItemId,
    target,
    ...(await queueing({ mode: queueMode, channel: event.channel, sender }, target, parts)),
    ...(Object.keys(context).length === 0 ? {} : { context: context as Json }),
    ...(grant.authority === "owner" ? {} : { permissions: grant.permissions }),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

/** What an agent says is nobody's order: it is a source like any other program of the owner's. */
function grantOf(event: StoredEvent, config: Config): Grant {
  return OURS.has(splitEventId(event.id).adapter)
    ? { authority: "source", permissions: { authority: "source" } }
    : grantFor(event, config);
}

function routeTo(destination: Destination, config: Config): Route {
  switch (destination.kind) {
    case "default":
      return {};
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
    case "relay":
      throw new CortexError(
        "hook_failed",
        `The relay "${destination.relay}" cannot be started: there are no relays yet`,
        {
          hint: "Route to a session, a thread, a persona or an agent.",
        },
      );
  }
}
