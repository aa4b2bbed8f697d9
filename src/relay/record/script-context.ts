/** What a relay script is told. Its names are part of the format: scripts read them. */
import type { AgentStep, RelayRecord, ScriptPoint, StopReason } from "./record.ts";
import { showRecord } from "./relay-of-turn.ts";

export interface ScriptContext {
  readonly threadId: string;
  /** Empty where a single agent runs. */
  readonly templateName: string;
  readonly phase: ScriptPoint;
  readonly currentStepIndex: number;
  /** Those that have ended. */
  readonly steps: readonly AgentStep[];
  /** Between two steps: the next. */
  readonly activeAgent: string;
  readonly activeStage: string | null;
  /** Whose step has ended last. Null before the first. */
  readonly previousAgent: string | null;
  /** Empty where it cannot be read. */
  readonly artifactContent: string;
  readonly artifactPath: string;
  readonly userMessage: string;
  readonly totalCostUsd: number;
  /** Why the relay stops. Null until it does. */
  readonly stopReason: StopReason | null;
  readonly abortReason: string | null;
  readonly error: string | null;
  readonly metadata: RelayRecord["metadata"];
}

export function scriptContext(
  record: RelayRecord,
  phase: ScriptPoint,
  artifact: string | undefined,
): ScriptContext {
  const { ending } = record;
  return {
    threadId: record.id,
    templateName: record.templateName ?? "",
    phase,
    currentStepIndex: record.currentStepIndex,
    steps: showRecord(record).steps.filter(({ endedAt }) => endedAt !== null),
    activeAgent: record.activeAgent,
    activeStage: record.activeStage,
    previousAgent:
      record.steps.findLast(({ kind, endedAt }) => kind === "agent" && endedAt !== null)?.agentSlotId ?? null,
    artifactContent: artifact ?? "",
    artifactPath: record.artifactPath,
    userMessage: record.userMessage,
    totalCostUsd: record.totalCostUsd,
    stopReason: ending?.stopReason ?? null,
    abortReason: ending?.abortReason ?? null,
    error: ending?.error ?? null,
    metadata: record.metadata,
  };
}
