/** The replies to `!thread …` in a chat. */
import { count } from "../../model/count.ts";
import { type Endpoint, printEndpoint } from "../templates/endpoint.ts";
import { countSteps, isTerminal, type RelayRecord } from "../record/record.ts";
import type { RelayAgent, RelayConfig } from "../templates/snapshot.ts";
import { formatUsd, summarise } from "../record/summary.ts";

/** The maximum length of a list. */
export const SHOWN_RELAYS = 10;

/** The running relay of a place. */
export function describeActive(record: RelayRecord | undefined): string {
  if (record === undefined) return "No active thread in this channel.";
  const { id, status, totalCostUsd, agents, abortReason } = record;
  return [
    `*Active Thread* \`${id}\` (${nameOf(record)})`,
    `Status: ${status} | Active agent: ${printEndpoint(active(record))}`,
    `Steps: ${countSteps(record)} | Cost: ${formatUsd(totalCostUsd)}`,
    `Agents: ${Object.keys(agents).join(", ")}`,
    ...(abortReason === null ? [] : [`Abort reason: ${abortReason}`]),
  ].join("\n");
}

/** Asks which of several relays is meant. */
export function describeChoice(records: readonly RelayRecord[], command: string): string {
  return [
    `${records.length} threads are running here. Choose one with \`${command}\`:`,
    ...records.map(describeLine),
  ].join("\n");
}

/** One relay with its steps. */
export function describeRelay(record: RelayRecord, nowMs: number): string {
  const head = `*Thread* \`${record.id}\` (${nameOf(record)})`;
  const next = isTerminal(record) ? [] : [`Active agent: ${printEndpoint(active(record))}`];
  return [head, ...next, summarise(record, nowMs)].join("\n");
}

export function describeStarted(record: RelayRecord): string {
  const { id } = record;
  return [
    `▶️ Thread \`${id}\` (${nameOf(record)}) started with ${printEndpoint(active(record))}.`,
    `\`!thread status ${id}\` shows its progress, \`!cancel ${id}\` cancels it.`,
  ].join("\n");
}

export function describeList(records: readonly RelayRecord[], scope: "here" | "running"): string {
  if (records.length === 0)
    return scope === "here" ? "No threads found for this channel." : "No threads are running.";
  return [scope === "here" ? "*Recent Threads*" : "*Running Threads*", ...records.map(describeLine)].join(
    "\n",
  );
}

function describeLine(record: RelayRecord): string {
  const { id, status, totalCostUsd } = record;
  const steps = countSteps(record);
  return `• \`${id}\` ${nameOf(record)} — ${status} | ${count(steps, "step")} | ${formatUsd(totalCostUsd)}`;
}

export function describeTemplates(config: Pick<RelayConfig, "templates" | "problems">): string {
  const templates = [...config.templates.values()].map(
    ({ name, description, agents }) =>
      `• \`${name}\`${described(description)} [agents: ${agents.map((agent) => agent.name).join(", ")}]`,
  );
  return [
    ...(templates.length === 0
      ? ["No thread templates configured."]
      : ["*Available Thread Templates*", ...templates]),
    ...brokenFiles(config),
  ].join("\n");
}

/** A list is incomplete while files are invalid. */
function brokenFiles({ problems }: Pick<RelayConfig, "problems">): string[] {
  const [first] = problems;
  if (first === undefined) return [];
  const others = problems.length === 1 ? "" : ` (and ${problems.length - 1} more: \`cortex relay validate\`)`;
  return [`⚠️ ${first.source}${first.path === "" ? "" : ` ${first.path}`}: ${first.message}${others}`];
}

/** Includes the agents of the running relay, with an arrow at the active one. */
export function describeAgents(
  config: Pick<RelayConfig, "agents" | "problems">,
  record: RelayRecord | undefined,
): string {
  const { agents } = config;
  const known = [
    ...(agents.size === 0
      ? ["No agents configured."]
      : ["*Available Agents*", ...[...agents.values()].map(describeAgent)]),
    ...brokenFiles(config),
  ];
  if (record === undefined) return known.join("\n");
  const slots = Object.values(record.agents).map(({ slotId, status, sessionName, sessionId }) => {
    const arrow = slotId === record.activeAgent ? "→ " : "";
    const session = sessionName ?? sessionId;
    return `• ${arrow}\`${slotId}\` ${status}${session === null ? "" : ` (${session})`}`;
  });
  return [...known, `*Agents of* \`${record.id}\``, ...slots].join("\n");
}

function describeAgent({ name, profile, description }: RelayAgent): string {
  return `• \`${name}\` (${profile})${described(description)}`;
}

function described(description: string): string {
  return description === "" ? "" : ` — ${description}`;
}

function nameOf({ templateName }: RelayRecord): string {
  return templateName ?? "ad-hoc";
}

function active({ activeAgent, activeStage }: RelayRecord): Endpoint {
  return { agent: activeAgent, stage: activeStage };
}
