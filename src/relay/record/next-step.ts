/** Which steps come next, in which sessions, and with what to spend. */
import { buildSessionKey, type SessionKey } from "../../model/session-key.ts";
import { printEndpoint } from "../templates/endpoint.ts";
import type { RelayRecord, RelayStep, ScriptPoint, Slot } from "./record.ts";
import { scriptSlot, unbegun } from "./record-step.ts";
import type { RelayTemplate } from "../templates/snapshot.ts";

export interface NextStep {
  readonly slot: string;
  readonly stage: string | null;
  /** What the agent is asked, where it was added with a message. */
  readonly message: string | undefined;
  readonly session: SessionKey;
  /** Whether the agent goes on with a session that it had before. */
  readonly isResumed: boolean;
  /** Undefined: the relay has no limit. */
  readonly maxCostUsd: number | undefined;
  /** The file that it writes to in a fan-out. Undefined: it writes to the artifact. */
  readonly section: string | undefined;
}

/** What is to be begun now: nothing while all that is active runs or has run. */
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

/** What is not spent yet. A step's own limit, so that one step cannot exceed the relay's by much. */
export function moneyLeft(record: RelayRecord, template: RelayTemplate | undefined): number | undefined {
  const limit = template?.maxTotalCostUsd;
  return limit === undefined ? undefined : Math.max(0, limit - record.totalCostUsd);
}

/** The session of an agent that a script asked for: a new one each time. */
export function scriptSession(id: string, point: ScriptPoint, step: number): SessionKey {
  return buildSessionKey({ kind: "relay", relay: id, slot: scriptSlot(point), step });
}

/** The session that a script's message goes to: the slot's own, else that of its last step. Undefined: it has none. */
export function targetSession({ agents, steps }: RelayRecord, slotId: string): string | undefined {
  const slot: Slot | undefined = agents[slotId];
  if (slot === undefined) return undefined;
  const last = steps.findLast(({ agentSlotId, kind }) => agentSlotId === slotId && kind !== "script");
  return slot.sessionId ?? last?.sessionId ?? undefined;
}

/** What came out of the steps before those that are active, for the prompts of these. Null: nothing did. */
export function previousOutput(record: Pick<RelayRecord, "steps" | "leg">): string | null {
  const last = lastAnswered(record);
  if (last.length === 0) return null;
  if (last.length === 1) return last[0]!.output;
  return last.map((step) => `[${nameOf(step)}]\n\n${step.output!}`).join("\n\n");
}

/** The last step with an answer, or all of them that ran side by side. */
export function lastAnswered({ steps, leg }: Pick<RelayRecord, "steps" | "leg">): readonly RelayStep[] {
  const answered = steps.filter(
    (step) => step.status === "completed" && step.output !== null && step.leg !== leg,
  );
  const last = answered.at(-1);
  if (last === undefined || last.leg === null) return last === undefined ? [] : [last];
  return answered.filter((step) => step.leg === last.leg);
}

function nameOf({ agentSlotId, stage }: RelayStep): string {
  return printEndpoint({ agent: agentSlotId, stage });
}

export interface SectionFile {
  /** Whose it is. */
  readonly title: string;
  /** In the workspace. No other step of the relay has it. */
  readonly file: string;
}

/** The files that the steps of a fan-out write to, in its order. */
export function sectionFiles({ leg, active }: Pick<RelayRecord, "leg" | "active">): readonly SectionFile[] {
  return active.map((end, place) => {
    const title = printEndpoint(end);
    return { title, file: `sections/${leg}-${place}-${title.replaceAll(/[^A-Za-z0-9_-]/g, "_")}.md` };
  });
}
