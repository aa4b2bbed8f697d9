/** Lets one more agent go on with a relay that has ended or waits. */
import { addAgent } from "../record/ending.ts";
import type { KeptRelay, RelayUpdate } from "../record/kept-relay.ts";
import { addPending } from "../record/pending-messages.ts";
import { asShown } from "../record/phases.ts";
import type { RelayAddition } from "../relays.ts";
import { resolveStage } from "../templates/endpoint.ts";
import { agentIn, type RelayConfig, type SnapshotContent, takeSnapshot } from "../templates/snapshot.ts";
import { asksMessage } from "./build-prompt.ts";
import { agentUnknown, slotOf } from "./start.ts";

/** The template's own agent is as it was when the relay began; any other is as it is now. */
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
  const isInPrompt = message === undefined || asksMessage({ agent, stage, isAdHoc: !isTemplates });
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

/** As it is shown, unless one of several steps still works: that one must not be ended. */
function waitingOrEnded({ record, rows }: KeptRelay): KeptRelay["record"] {
  const isAtWork = rows.some(({ state, wait }) => state === "running" && wait === undefined);
  return isAtWork ? record : asShown(record, rows);
}
