/** The summary and the result of a relay. */
import { MAX_RESULT_LENGTH } from "../../delegation/outcome.ts";
import { count } from "../../model/count.ts";
import type { RelayId } from "../../model/ids.ts";
import type { ToolResult } from "../../model/tool.ts";
import { readKept } from "../artifact/artifact.ts";
import { toRecord } from "./kept-relay.ts";
import { countSteps, isTerminal, type RelayRecord, type RelayStatus, type RelayStep } from "./record.ts";
import { stepName } from "./record-step.ts";
import type { Store } from "../../store/store.ts";

/** The artifact; if it is empty or unreadable, the last answer. */
export function finalOutput(record: RelayRecord, artifact: string | undefined): string | undefined {
  if (artifact !== undefined && artifact.trim() !== "") return artifact;
  return (
    record.steps.findLast(({ kind, output }) => kind === "agent" && output !== null)?.output ?? undefined
  );
}

export const ICONS: Readonly<Record<RelayStatus, string>> = {
  running: "▶️",
  waiting: "⏸️",
  completed: "✅",
  failed: "❌",
  cancelled: "🚫",
  aborted: "⛔",
};

/** A headline, a line per step, and the error if any. */
export function summarise(record: RelayRecord, nowMs: number): string {
  const { status, stopReason, error, abortReason, totalCostUsd } = record;
  const endedMs = record.endedAt === null ? nowMs : Date.parse(record.endedAt);
  const steps = countSteps(record);
  const headline = [
    `${ICONS[status]} Thread ${status === "completed" ? "complete" : status}`,
    count(steps, "step"),
    formatUsd(totalCostUsd),
    duration((endedMs - Date.parse(record.createdAt)) / 1000),
    ...(stopReason === null || stopReason === status ? [] : [stopReason]),
  ].join(" | ");
  const lines = [headline, ...record.steps.map(describeStep)];
  if (status === "aborted") lines.push(`Aborted: ${abortReason ?? "no reason given"}`);
  if (error !== null) lines.push(`Error: ${error}`);
  return lines.join("\n");
}

function describeStep(step: RelayStep): string {
  const { numTurns, costUsd, durationS, error } = step;
  const facts = [
    ...(numTurns === null ? [] : [count(numTurns, "turn")]),
    ...(costUsd === null ? [] : [formatUsd(costUsd)]),
    ...(durationS === null ? [] : [duration(durationS)]),
    ...(error === null ? [] : [`failed: ${briefError(error)}`]),
  ];
  return `${stepName(step)}: ${facts.join(" · ")}`;
}

/** The error, and the last line of a script's standard error. */
export function briefError(error: string): string {
  const [what = "", ...tail] = error.trim().split("\n");
  const last = tail.at(-1)?.trim() ?? "";
  return last === "" ? what : `${what}: ${last}`;
}

export function formatUsd(usd: number): string {
  return `$${usd.toFixed(4)}`;
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}m ${whole % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** Undefined: not over. */
export async function readRelayResult(
  id: RelayId,
  { home, store: { relays } }: { readonly home: string; readonly store: Pick<Store, "relays"> },
): Promise<ToolResult | undefined> {
  const stored = await relays.get(id);
  if (stored === undefined) return { text: `Unknown relay ${id}.`, isError: true };
  const record = toRecord(stored, await relays.steps(id));
  if (!isTerminal(record)) return undefined;
  const summary = summarise(record, Date.parse(record.endedAt ?? record.updatedAt));
  const hash = record.steps.findLast(({ artifactHash }) => artifactHash !== null)?.artifactHash ?? null;
  const output = finalOutput(record, hash === null ? undefined : await readKept(home, hash));
  return {
    text: output === undefined ? summary : `${shorten(output.trim(), record)}\n\n[${summary}]`,
    isError: record.status !== "completed",
    details: { relay: id, status: record.status, artifact: record.artifactPath },
  };
}

/** Cuts a result for a model, which can read the rest from the artifact. */
function shorten(text: string, { artifactPath }: RelayRecord): string {
  if (text.length <= MAX_RESULT_LENGTH) return text;
  const rest = text.length - MAX_RESULT_LENGTH;
  return `${text.slice(0, MAX_RESULT_LENGTH).toWellFormed()}\n(${count(rest, "more character is", "more characters are")} in ${artifactPath})`;
}
