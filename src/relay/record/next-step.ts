/** The next steps of a relay, with their sessions and budgets. */
import { buildSessionKey, type SessionKey } from "../../model/session-key.ts";
import { printEndpoint } from "../templates/endpoint.ts";
import type { RelayRecord, RelayStep, ScriptPoint, Slot } from "./record.ts";
import { scriptSlot, stepName, unbegun } from "./record-step.ts";
import type { RelayTemplate } from "../templates/snapshot.ts";

export interface NextStep {
  readonly slot: string;
  readonly stage: string | null;
  /** The message that came with an added agent. */
  readonly message: string | undefined;
  readonly session: SessionKey;
  /** Whether the agent continues its earlier session. */
  readonly isResumed: boolean;
  /** Undefined: the relay has no limit. */
  readonly maxCostUsd: number | undefined;
  /** The file it writes to in a fan-out. Undefined: it writes to the artifact. */
  readonly section: string | undefined;
}

/** The steps to begin now. Empty while all active ones are running or have run. */
export function nextSteps(record: RelayRecord, template: RelayTemplate | undefined): readonly NextStep[] {
  if (record.phase.kind !== "steps" || record.ending !== null || record.status !== "running") return [];
  const sections = record.active.length > 1 ? sectionFiles(record) : [];
  const left = moneyLeft(record, template);
  return unbegun(record).map((end, offset) => {
    const { persistSession = false, sessionId = null } = record.agents[end.agent] ?? {};
    const key = { kind: "relay", relay: record.id, slot: end.agent } as const;
    return {
      slot: end.agent,
      stage: end.stage,
      message: end.message,
      session: buildSessionKey(persistSession ? key : { ...key, step: record.steps.length + offset }),
      isResumed: persistSession && sessionId !== null,
      maxCostUsd: left === undefined ? undefined : left / record.active.length,
      section: sections.find(({ title }) => title === printEndpoint(end))?.file,
    };
  });
}

/** The unspent rest of the cost limit. It also limits a single step, so no step exceeds the relay's limit by much. */
export function moneyLeft(record: RelayRecord, template: RelayTemplate | undefined): number | undefined {
  const limit = template?.maxTotalCostUsd;
  return limit === undefined ? undefined : Math.max(0, limit - record.totalCostUsd);
}

/** The session of an agent inserted by a script: a new one each time. */
export function scriptSession(id: string, point: ScriptPoint, step: number): SessionKey {
  return buildSessionKey({ kind: "relay", relay: id, slot: scriptSlot(point), step });
}

/** The session for a script's message: the slot's own, else that of its last step. */
export function targetSession({ agents, steps }: RelayRecord, slotId: string): string | undefined {
  const slot: Slot | undefined = agents[slotId];
  if (slot === undefined) return undefined;
  const last = steps.findLast(({ agentSlotId, kind }) => agentSlotId === slotId && kind !== "script");
  return slot.sessionId ?? last?.sessionId ?? undefined;
}

/** The output of the steps before the active ones, for their prompts. Null: no output yet. */
export function previousOutput(record: Pick<RelayRecord, "steps" | "leg">): string | null {
  const [first, ...others] = lastAnswered(record);
  if (first === undefined) return null;
  if (others.length === 0) return first.output;
  return [first, ...others].map((step) => `[${stepName(step)}]\n\n${step.output ?? ""}`).join("\n\n");
}

/** The last step with an answer, or all steps that ran in parallel with it. */
export function lastAnswered({ steps, leg }: Pick<RelayRecord, "steps" | "leg">): readonly RelayStep[] {
  const answered = steps.filter(
    (step) => step.status === "completed" && step.output !== null && step.leg !== leg,
  );
  const last = answered.at(-1);
  if (last === undefined || last.leg === null) return last === undefined ? [] : [last];
  return answered.filter((step) => step.leg === last.leg);
}

interface SectionFile {
  /** The step that writes it. */
  readonly title: string;
  /** Relative to the workspace, unique within the relay. */
  readonly file: string;
}

/** The files that the steps of a fan-out write to, in its order. */
export function sectionFiles({ leg, active }: Pick<RelayRecord, "leg" | "active">): readonly SectionFile[] {
  return active.map((end, place) => {
    const title = printEndpoint(end);
    return { title, file: `sections/${leg}-${place}-${title.replaceAll(/[^A-Za-z0-9_-]/g, "_")}.md` };
  });
}
