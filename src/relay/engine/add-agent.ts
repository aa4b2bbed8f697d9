/** Adds an agent to a relay that has ended or is waiting. */
import { addAgent } from "../record/ending.ts";
import type { KeptRelay, RelayUpdate } from "../record/kept-relay.ts";
import { addPending } from "../record/pending-messages.ts";
import { asShown } from "../record/phases.ts";
import type { RelayAddition } from "../relays.ts";
import { resolveStage } from "../templates/endpoint.ts";
import { agentIn, type RelayConfig, type SnapshotContent, takeSnapshot } from "../templates/snapshot.ts";
import { includesMessage } from "./build-prompt.ts";
import { agentUnknown, slotOf } from "./start.ts";

/** An agent of the template is taken from the relay's snapshot, any other from the current configuration. */
export function addTo(
  relay: KeptRelay,
  { agent: name, message }: Pick<RelayAddition, "agent" | "message">,
  config: RelayConfig,
  nowMs: number,
): Pick<RelayUpdate, "record" | "config"> {
  const { content } = relay;
  const isTemplates = content.template?.agents.some((agent) => agent.name === name) === true;
  const agent = isTemplates ? agentIn(content, name) : config.agents.get(name);
  if (agent === undefined) throw agentUnknown(name, config);
  const snapshot = takeSnapshot(isTemplates ? content : withAgent(content, agent));
  const stage = resolveStage(agent, null);
  const isInPrompt = message === undefined || includesMessage({ agent, stage, isAdHoc: !isTemplates });
  const record = waitingOrEnded(relay);
  const added = addAgent(
    isInPrompt ? record : addPending(record, message),
    {
      slot: slotOf(agent),
      stage,
      configHash: snapshot.hash,
      ...(message === undefined || !isInPrompt ? {} : { message }),
    },
    nowMs,
  );
  return { record: added, config: snapshot };
}

function withAgent({ added, ...content }: SnapshotContent, agent: SnapshotContent["added"][number]) {
  return { ...content, added: [...added.filter(({ name }) => name !== agent.name), agent] };
}

/** As shown, unless another step is still running, which must not be ended. */
function waitingOrEnded({ record, rows }: KeptRelay): KeptRelay["record"] {
  const isAtWork = rows.some(({ state, wait }) => state === "running" && wait === undefined);
  return isAtWork ? record : asShown(record, rows);
}
