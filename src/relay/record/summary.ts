/** What is said of a relay when it has ended. */
import { count } from "../../model/count.ts";
import { printEndpoint } from "../templates/endpoint.ts";
import { countSteps, type RelayRecord, type RelayStatus, type RelayStep } from "./record.ts";

/** The artifact; where that is empty or cannot be read, what was answered last. Undefined: there is neither. */
export function finalOutput(record: RelayRecord, artifact: string | undefined): string | undefined {
  if (artifact !== undefined && artifact.trim() !== "") return artifact;
  return (
    record.steps.findLast(({ kind, output }) => kind === "agent" && output !== null)?.output ?? undefined
  );
}

const ICONS: Readonly<Record<RelayStatus, string>> = {
  running: "▶️",
  waiting: "⏸️",
  completed: "✅",
  failed: "❌",
  cancelled: "🚫",
  aborted: "⛔",
};

/** A headline, a line for each step, and what went wrong if something did. */
export function summarise(record: RelayRecord, nowMs: number): string {
  const { status, stopReason, error, abortReason, totalCostUsd } = record;
  const endedMs = record.endedAt === null ? nowMs : Date.parse(record.endedAt);
  const steps = countSteps(record);
  const headline = [
    `${ICONS[status]} Thread ${status === "completed" ? "complete" : status}`,
    count(steps, "step"),
    price(totalCostUsd),
    duration((endedMs - Date.parse(record.createdAt)) / 1000),
    ...(stopReason === null || stopReason === status ? [] : [stopReason]),
  ].join(" | ");
  const lines = [headline, ...record.steps.map(describeStep)];
  if (status === "aborted") lines.push(`Aborted: ${abortReason ?? "no reason given"}`);
  if (error !== null) lines.push(`Error: ${error}`);
  return lines.join("\n");
}

function describeStep({ agentSlotId, stage, numTurns, costUsd, durationS, error }: RelayStep): string {
  const facts = [
    ...(numTurns === null ? [] : [count(numTurns, "turn")]),
    ...(costUsd === null ? [] : [price(costUsd)]),
    ...(durationS === null ? [] : [duration(durationS)]),
    ...(error === null ? [] : [`failed: ${briefError(error)}`]),
  ];
  return `${printEndpoint({ agent: agentSlotId, stage })}: ${facts.join(" · ")}`;
}

/** What went wrong, and the last line of what a script wrote about it. */
export function briefError(error: string): string {
  const [what = "", ...tail] = error.trim().split("\n");
  const last = tail.at(-1)?.trim() ?? "";
  return last === "" ? what : `${what}: ${last}`;
}

export function price(usd: number): string {
  return `$${usd.toFixed(4)}`;
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}m ${whole % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
