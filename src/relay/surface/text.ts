/** The texts about relays on a terminal, as pure functions. */
import { countSteps } from "../record/record.ts";
import { stepName } from "../record/record-step.ts";
import { briefError, formatUsd } from "../record/summary.ts";
import { printEndpoint } from "../templates/endpoint.ts";
import type { RelayView } from "./views.ts";
import type { DryRun } from "../relays.ts";
import { count, duration, firstLine, harmless, indent, table } from "../../terminal/text.ts";

const MAX_TEXT_LENGTH = 100;

type Step = RelayView["steps"][number];

export function isOver({ status }: { readonly status: unknown }): boolean {
  return status !== "running" && status !== "waiting";
}

export function isGood({ status }: Pick<RelayView, "status">): boolean {
  return status === "completed";
}

/** The progress of a relay in one line: step, agent and stage, cost, elapsed time. */
export function relayProgressLine(record: RelayView, nowMs: number): string {
  const { id, status, steps, activeAgent, activeStage, totalCostUsd, createdAt } = record;
  const current = steps.find((step) => step.status === "running") ?? lastOf(record);
  return [
    `${id} ${status}`,
    `step ${(current?.stepIndex ?? steps.length) + 1}`,
    printEndpoint({ agent: activeAgent, stage: activeStage }),
    formatUsd(totalCostUsd),
    duration(Math.max(nowMs - Date.parse(createdAt), 0)),
  ].join(" · ");
}

/** The last step, as long as the relay has not moved on to another agent. */
function lastOf({ steps, activeAgent, activeStage }: RelayView): Step | undefined {
  const last = steps.at(-1);
  return last?.agentSlotId === activeAgent && last.stage === activeStage ? last : undefined;
}

export function stepLine(step: Step): string {
  return stepCells(step)
    .filter((cell) => cell !== "")
    .join(" · ");
}

export function stepCells(step: Step): string[] {
  const { stepIndex, kind, status, costUsd, durationS, output, error } = step;
  return [
    `${kind === "script" ? "script" : "step"} ${stepIndex + 1}`,
    harmless(stepName(step)),
    status,
    costUsd === null ? "" : formatUsd(costUsd),
    durationS === null ? "" : duration(durationS * 1_000),
    firstLine(error === null ? (output ?? "") : briefError(error), MAX_TEXT_LENGTH),
  ];
}

/** How a relay ended. */
export function endLine(record: RelayView, nowMs: number): string {
  const { id, status, stopReason, totalCostUsd, createdAt, endedAt, abortReason, error } = record;
  const steps = countSteps(record);
  const endedMs = endedAt === null ? nowMs : Date.parse(endedAt);
  const why = stopReason === null || stopReason === status ? "" : ` (${stopReason})`;
  const trouble = abortReason ?? error;
  return harmless(
    `${id} is ${status}${why}: ${count(steps, "step")}, ${formatUsd(totalCostUsd)}, ` +
      `${duration(Math.max(endedMs - Date.parse(createdAt), 0))}${trouble === null ? "" : `. ${trouble}`}`,
  );
}

export function describeDryRun({ steps, stopReason }: DryRun): string {
  const rows = steps.map(({ agent, stage, output }, index) => [
    `step ${index + 1}`,
    harmless(printEndpoint({ agent, stage })),
    firstLine(output ?? "", MAX_TEXT_LENGTH),
  ]);
  return [table(rows), `Stop reason: ${stopReason ?? "none"}. Nothing was stored.`].join("\n");
}

export function describeStep(step: Step): string {
  const { input, output, error } = step;
  const said = error ?? output;
  return [
    stepLine({ ...step, output: null, error: null }),
    indent(`asked\n${indent(harmless(input.trim()))}`),
    ...(said === null
      ? []
      : [indent(`${error === null ? "answered" : "failed"}\n${indent(harmless(said.trim()))}`)]),
  ].join("\n");
}
