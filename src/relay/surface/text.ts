/** What people read of relays on a terminal. It knows no terminal: values in, text out. */
import { briefError, countSteps, type RelayView } from "./views.ts";
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

/** `coder:review`. */
function placeOf(agent: string, stage: string | null): string {
  return stage === null ? agent : `${agent}:${stage}`;
}

export function price(usd: number): string {
  return `$${usd.toFixed(4)}`;
}

/** Where a relay is, in one line: step, agent and stage, cost, elapsed. */
export function progressLine(record: RelayView, nowMs: number): string {
  const { id, status, steps, activeAgent, activeStage, totalCostUsd, createdAt } = record;
  const current = steps.find((step) => step.status === "running") ?? lastOf(record);
  return [
    `${id} ${status}`,
    `step ${(current?.stepIndex ?? steps.length) + 1}`,
    placeOf(activeAgent, activeStage),
    price(totalCostUsd),
    duration(Math.max(nowMs - Date.parse(createdAt), 0)),
  ].join(" · ");
}

/** The step that has ended, while it is not known that another follows. */
function lastOf({ steps, activeAgent, activeStage }: RelayView): Step | undefined {
  const last = steps.at(-1);
  return last?.agentSlotId === activeAgent && last.stage === activeStage ? last : undefined;
}

/** A step that has ended. */
export function stepLine(step: Step): string {
  return stepCells(step)
    .filter((cell) => cell !== "")
    .join(" · ");
}

export function stepCells(step: Step): string[] {
  const { stepIndex, kind, agentSlotId, stage, status, costUsd, durationS, output, error } = step;
  return [
    `${kind === "script" ? "script" : "step"} ${stepIndex + 1}`,
    harmless(placeOf(agentSlotId, stage)),
    status,
    costUsd === null ? "" : price(costUsd),
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
    `${id} is ${status}${why}: ${count(steps, "step")}, ${price(totalCostUsd)}, ` +
      `${duration(Math.max(endedMs - Date.parse(createdAt), 0))}${trouble === null ? "" : `. ${trouble}`}`,
  );
}

export function describeDryRun({ steps, stopReason }: DryRun): string {
  const rows = steps.map(({ agent, stage, output }, index) => [
    `step ${index + 1}`,
    harmless(placeOf(agent, stage)),
    firstLine(output ?? "", MAX_TEXT_LENGTH),
  ]);
  return [table(rows), `It ends: ${stopReason ?? "not at all"}. Nothing of it is kept.`].join("\n");
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
