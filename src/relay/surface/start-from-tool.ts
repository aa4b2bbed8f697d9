/** Starts relays for agents, within the limits of the requesting turn. */
import type { Ports } from "../../feature/ports.ts";
import { causeOf } from "../../delegation/caller.ts";
import { boundBy } from "../../delegation/narrowing.ts";
import { CortexError } from "../../model/errors.ts";
import type { RelayId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { present } from "../../model/present.ts";
import { parseSessionKey, type SessionKey } from "../../model/session-key.ts";
import type { ToolContext } from "../../model/tool.ts";
import { readTrust } from "../../model/trust.ts";
import { readWorker, type Worker } from "../../model/worker.ts";
import { outsideAudience } from "../../turns/audience.ts";
import { isByOthers } from "../../turns/setup.ts";
import type { RelayRequest, Relays } from "../relays.ts";

/** How many relays of one session may run at the same time. */
export const MAX_OPEN_RELAYS = 8;
/** How deep relays may be nested. */
export const MAX_RELAY_DEPTH = 3;

/** A relay requested by an agent. */
export interface RelayWish {
  readonly name: string;
  readonly kind: "template" | "agent";
  /** Includes the terms of the contract. */
  readonly message: string;
  readonly contract: { readonly [field: string]: Json };
  readonly budgetUsd?: number;
  /** Whether the turn waits for the end. Otherwise its session gets a message. */
  readonly waits: boolean;
}

/** Starts the relay, or finds the one that the same call started before. Returns its id. */
export async function startFromTool(
  { name, kind, message, contract, budgetUsd, waits }: RelayWish,
  context: ToolContext,
  ports: Ports,
): Promise<string> {
  const { session, turn, callKey, workspace, delegable } = context;
  const { store } = ports;
  const { relays } = ports.apis;
  const depth = await depthOf(session, relays);
  await checkOpen(context, relays);
  const [items, stored] = await Promise.all([store.queue.itemsOf(turn), store.sessions.get(session)]);
  const { outward: _, ...trust } = readTrust(stored?.settings ?? {});
  const { id } = await relays.run({
    cause: await causeOf({ context, items }, ports),
    name,
    kind,
    message,
    dir: workspace, // where the agent itself works
    channel: session,
    startedBy: {
      session,
      turn,
      ...(stored === undefined ? {} : { persona: stored.persona }),
      ...(waits ? { ordinal: ordinalOf(context) } : {}),
    },
    metadata: { trigger: "agent", call: callKey, depth, contract },
    permissions: boundBy(delegable, isByOthers(items)),
    ...present({ audience: outsideAudience(items) }),
    label: trust, // also for a relay that goes on after the session is gone
    idempotencyKey: `call:${callKey}`,
    ...budgetOf(budgetUsd, readWorker(stored?.worker)),
  });
  return id;
}

/** Limited by the budget of the requesting turn. */
function budgetOf(wantedUsd = Infinity, worker: Worker | undefined): Pick<RelayRequest, "budgetUsd"> {
  const budgetUsd = Math.min(wantedUsd, worker?.costUsd ?? Infinity);
  return Number.isFinite(budgetUsd) ? { budgetUsd } : {};
}

/** 0: the session is not part of a relay. */
async function depthOf(session: SessionKey, relays: Pick<Relays, "get">): Promise<number> {
  const key = parseSessionKey(session);
  if (key.kind !== "relay") return 0;
  const parent = await relays.get(key.relay as RelayId);
  const depth = Number(parent?.metadata?.["depth"] ?? 0) + 1;
  if (depth < MAX_RELAY_DEPTH) return depth;
  throw new CortexError("tool_input_invalid", `Relays cannot be nested more than ${MAX_RELAY_DEPTH} deep`, {
    hint: "Do the work in this step, or leave it to the next agent.",
  });
}

async function checkOpen({ session, callKey }: ToolContext, relays: Pick<Relays, "list">): Promise<void> {
  const { items } = await relays.list({ channel: session, running: true, limit: MAX_OPEN_RELAYS });
  // The call itself may have started one of them before it was interrupted.
  if (items.length < MAX_OPEN_RELAYS || items.some(({ metadata }) => metadata?.["call"] === callKey)) return;
  throw new CortexError("tool_input_invalid", `${items.length} relays of this session are already running`, {
    hint: "Wait for one of them to end.",
  });
}

function ordinalOf({ turn, callKey }: ToolContext): number {
  return Number(callKey.slice(turn.length + 1));
}
