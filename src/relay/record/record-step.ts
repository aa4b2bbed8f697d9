/** How the record of a relay changes when steps begin and end, and when a transition is followed. */
import assert from "node:assert/strict";
import { type Endpoint, printEndpoint } from "../templates/endpoint.ts";
import { timestamp } from "./new-record.ts";
import type { ActiveEnd, RelayRecord, RelayStep, ScriptPoint, Slot } from "./record.ts";

export interface StepStart {
  readonly kind: "agent" | "inserted";
  readonly slot: string;
  readonly stage: string | null;
  /** The whole prompt. */
  readonly input: string;
  readonly session: string;
  /** The hash of the current artifact. */
  readonly artifactBefore?: string | null;
}

/** Numbers the steps consecutively, in order. */
export function beginSteps(record: RelayRecord, starts: readonly StepStart[], nowMs: number): RelayRecord {
  let next = record;
  for (const start of starts) {
    const leg = start.kind === "agent" ? record.leg : null;
    next = withSlot(addStep(next, { ...start, leg }, nowMs), start.slot, { status: "running" });
  }
  return next;
}

interface NewStep extends Pick<RelayStep, "kind" | "leg">, Omit<StepStart, "kind" | "session"> {
  readonly session: string | null;
}

function addStep(record: RelayRecord, { slot, session, ...step }: NewStep, nowMs: number): RelayRecord {
  const begun: RelayStep = {
    stepIndex: record.steps.length,
    agentSlotId: slot,
    executionId: null,
    sessionId: session,
    sessionName: null,
    output: null,
    costUsd: null,
    numTurns: null,
    durationS: null,
    startedAt: timestamp(nowMs),
    endedAt: null,
    status: "running",
    error: null,
    artifactBefore: null,
    artifactHash: null,
    ...step,
  };
  return { ...record, steps: [...record.steps, begun], updatedAt: timestamp(nowMs) };
}

export interface StepOutcome extends Pick<RelayStep, "output" | "costUsd" | "numTurns" | "artifactHash"> {
  readonly status: "completed" | "failed";
  readonly turn: string | null;
  readonly error?: string;
}

/** Does nothing if the step is not running. A step may outlive its relay, and its cost still counts. */
export function recordStep(
  record: RelayRecord,
  stepIndex: number,
  outcome: StepOutcome,
  nowMs: number,
): RelayRecord {
  const step = record.steps[stepIndex];
  if (step?.status !== "running") return record;
  const { turn, error = null, ...known } = outcome;
  const ended: RelayStep = {
    ...step,
    ...known,
    executionId: turn,
    error,
    durationS: (nowMs - Date.parse(step.startedAt ?? "")) / 1000,
    endedAt: timestamp(nowMs),
  };
  const slot = record.agents[step.agentSlotId];
  const next: RelayRecord = {
    ...record,
    steps: record.steps.with(stepIndex, ended),
    currentStepIndex: record.currentStepIndex + 1,
    totalCostUsd: record.totalCostUsd + (outcome.costUsd ?? 0),
    updatedAt: timestamp(nowMs),
  };
  return withSlot(next, step.agentSlotId, {
    status: "completed",
    ...(outcome.output === null ? {} : { lastOutput: outcome.output }),
    ...(slot?.persistSession === true && outcome.status === "completed" ? { sessionId: step.sessionId } : {}),
  });
}

interface FailedScript {
  readonly point: ScriptPoint;
  readonly command: string;
  readonly startedAtMs: number;
  /** Includes the end of its standard error. */
  readonly error: string;
}

/** Records a failed script among the steps, so people can see it. */
export function recordFailedScript(record: RelayRecord, failure: FailedScript, nowMs: number): RelayRecord {
  const { point, command, error } = failure;
  const step: NewStep = {
    kind: "script",
    leg: null,
    slot: scriptSlot(point),
    stage: null,
    input: command,
    session: null,
  };
  const outcome = { output: null, costUsd: null, numTurns: null, turn: null, artifactHash: null };
  const begun = addStep(record, step, failure.startedAtMs);
  return recordStep(begun, record.steps.length, { status: "failed", error, ...outcome }, nowMs);
}

/** The slot of an agent inserted by a script. Part of the format of records. */
export function scriptSlot(point: ScriptPoint): string {
  return `hook-${point}`;
}

/** Follows a transition. The next steps begin after the transition scripts. */
export function follow(
  record: RelayRecord,
  { to, counted }: { readonly to: readonly Endpoint[]; readonly counted: string | undefined },
  nowMs: number,
): RelayRecord {
  const counts = record.iterationCounts;
  return {
    ...record,
    ...leadTo(to),
    leg: record.leg + 1,
    iterationCounts: counted === undefined ? counts : { ...counts, [counted]: (counts[counted] ?? 0) + 1 },
    phase: { kind: "script", point: "transition", source: "template", state: "due" },
    updatedAt: timestamp(nowMs),
  };
}

export function leadTo(
  active: readonly ActiveEnd[],
): Pick<RelayRecord, "active" | "activeAgent" | "activeStage"> {
  const [first] = active;
  assert(first !== undefined, "a transition leads to at least one step");
  return { active, activeAgent: first.agent, activeStage: first.stage };
}

/** The agents' own steps of the current leg: one, or those of a fan-out. */
export function stepsOfLeg(record: Pick<RelayRecord, "steps" | "leg">): readonly RelayStep[] {
  return record.steps.filter(({ leg }) => leg === record.leg);
}

/** The active ends without a step: normally all, after a crash the ones not reached. */
export function unbegun(record: RelayRecord): readonly ActiveEnd[] {
  const begun = new Set(
    stepsOfLeg(record)
      .filter(({ status }) => status !== "failed")
      .map(stepName),
  );
  return record.active.filter((end) => !begun.has(printEndpoint(end)));
}

/** `coder`, or `coder:review`. */
export function stepName({ agentSlotId, stage }: Pick<RelayStep, "agentSlotId" | "stage">): string {
  return printEndpoint({ agent: agentSlotId, stage });
}

function withSlot(record: RelayRecord, slotId: string, change: Partial<Slot>): RelayRecord {
  const slot = record.agents[slotId];
  if (slot === undefined) return record; // an agent inserted by a script
  return { ...record, agents: { ...record.agents, [slotId]: { ...slot, ...change } } };
}
