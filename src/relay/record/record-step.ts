/** How steps enter the record of a relay: when they begin, when they have ended, and where the relay goes from there. */
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
  /** The artifact as it is now, by its content. */
  readonly artifactBefore?: string | null;
}

/** They get the next numbers, in their order. */
export function beginSteps(record: RelayRecord, starts: readonly StepStart[], nowMs: number): RelayRecord {
  let next = record;
  for (const start of starts) {
    const leg = start.kind === "agent" ? record.leg : null;
    next = withSlot(addStep(next, { ...start, leg }, nowMs), start.slot, { status: "running" });
  }
  return next;
}

interface NewStep extends Pick<RelayStep, "kind" | "leg"> {
  readonly slot: string;
  readonly stage: string | null;
  readonly input: string;
  readonly session: string | null;
  readonly artifactBefore?: string | null;
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

export interface StepOutcome {
  readonly status: "completed" | "failed";
  readonly output: string | null;
  /** Null: nobody knows the price. */
  readonly costUsd: number | null;
  readonly numTurns: number | null;
  readonly turn: string | null;
  readonly error?: string;
  readonly artifactHash: string | null;
}

/** A step ends once: of one that does not run, nothing is recorded. It may outlive its relay, and is paid for. */
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
    durationS: (nowMs - Date.parse(step.startedAt!)) / 1000,
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

export interface FailedScript {
  readonly point: ScriptPoint;
  readonly command: string;
  readonly startedAtMs: number;
  /** With the end of what it wrote about it. */
  readonly error: string;
}

/** A script that came to no good end is kept among the steps, for whoever looks at what happened. */
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

/** The slot of what a script inserts, as programs know it from `threads.json`. */
export function scriptSlot(point: ScriptPoint): string {
  return `hook-${point}`;
}

/** Follows a transition. What is next is done when the scripts between the steps are. */
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
  return { active, activeAgent: active[0]!.agent, activeStage: active[0]!.stage };
}

/** The agents' own steps that brought the relay to where it is: one, or those of a fan-out. */
export function stepsOfLeg(record: Pick<RelayRecord, "steps" | "leg">): readonly RelayStep[] {
  return record.steps.filter(({ leg }) => leg === record.leg);
}

/** What is to run and neither runs nor has run: all of it as a rule, and after a crash what was not reached. */
export function unbegun(record: RelayRecord): readonly ActiveEnd[] {
  const begun = new Set(
    stepsOfLeg(record)
      .filter(({ status }) => status !== "failed")
      .map(({ agentSlotId, stage }) => printEndpoint({ agent: agentSlotId, stage })),
  );
  return record.active.filter((end) => !begun.has(printEndpoint(end)));
}

function withSlot(record: RelayRecord, slotId: string, change: Partial<Slot>): RelayRecord {
  const slot = record.agents[slotId];
  if (slot === undefined) return record; // a script's own agent has none
  return { ...record, agents: { ...record.agents, [slotId]: { ...slot, ...change } } };
}
