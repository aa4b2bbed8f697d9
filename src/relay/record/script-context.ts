/** The input of a relay script. Its field names are a format that scripts rely on. */
import { type AgentStep, type RelayRecord, type ScriptPoint, showRecord } from "./record.ts";

/** `activeAgent` is the next one between two steps. `stopReason` is null until the relay stops. */
export interface ScriptContext extends Pick<
  RelayRecord,
  | "currentStepIndex"
  | "activeAgent"
  | "activeStage"
  | "artifactPath"
  | "userMessage"
  | "totalCostUsd"
  | "stopReason"
  | "abortReason"
  | "error"
  | "metadata"
> {
  readonly threadId: string;
  /** Empty: a single agent. */
  readonly templateName: string;
  readonly phase: ScriptPoint;
  /** The steps that have ended. */
  readonly steps: readonly AgentStep[];
  /** The agent of the last ended step. Null before the first. */
  readonly previousAgent: string | null;
  /** Empty: unreadable. */
  readonly artifactContent: string;
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
