/** Begins the steps that come next: their prompts, the files that they write to, and the messages that ask for them. */
import { CortexError } from "../../model/errors.ts";
import { normalizeSessionKey, type SessionKey } from "../../model/session-key.ts";
import type { RelayStepOrder } from "../../store/store.ts";
import { readActivity } from "../artifact/activity.ts";
import { makeSection, makeWorkspace, workspaceOf } from "../artifact/artifact.ts";
import { readKept } from "../artifact/history.ts";
import { buildPrompt } from "./build-prompt.ts";
import { renderDiffs, renderFiles } from "../artifact/changes.ts";
import type { Draft } from "./draft.ts";
import type { EngineParts } from "./engine-parts.ts";
import { type FileChange, mergeChanges, replayTouches } from "../artifact/file-changes.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import { lastAnswered, type NextStep, previousOutput } from "../record/next-step.ts";
import { orderStep } from "./order-step.ts";
import { pendingOf, withoutPending } from "../record/pending-messages.ts";
import type { RelayRecord, RelayStep } from "../record/record.ts";
import { beginSteps, type StepStart } from "../record/record-step.ts";
import { keepNow } from "./record-ends.ts";
import { agentIn } from "../templates/snapshot.ts";
import { keepFiles, namesChanges, readChanges } from "./step-files.ts";
import { touchesOfCalls } from "../artifact/tool-changes.ts";

export interface Begun {
  readonly record: RelayRecord;
  readonly orders: ReadonlyMap<number, RelayStepOrder>;
}

/**
 * Nothing here is done twice by being done again: the files are made where they are missing, and the messages count when
 * they are saved together with the record.
 */
export async function beginNext(
  {
    record,
    detail,
    content,
    artifact,
  }: Pick<KeptRelay, "record" | "detail" | "content"> & Pick<Draft, "artifact">,
  next: readonly NextStep[],
  parts: EngineParts,
): Promise<Begun> {
  const { clock, home } = parts;
  const placed = await withWorkspace(record, home);
  const workspace = workspaceOf(home, placed.id);
  const artifactBefore = artifact?.hash ?? (await keepNow(placed, home)).hash;
  const pending = pendingOf(placed);
  const orders = new Map<number, RelayStepOrder>();
  const starts: StepStart[] = [];
  for (const [
    offset,
    { slot, stage, message, isResumed, maxCostUsd, section, session: key },
  ] of next.entries()) {
    const agent = agentIn(content, slot);
    if (agent === undefined) throw slotUnknown(slot, placed.id);
    const session = normalizeSessionKey(key);
    const isAdHoc = content.template === undefined || content.added.some(({ name }) => name === slot);
    const { systemPrompt, prompt } = buildPrompt({
      agent,
      stage,
      userMessage: placed.userMessage,
      message,
      previousOutput: previousOutput(placed),
      isAdHoc,
      isResumed: isResumed && (await hasHead(session, parts)),
      artifactPath: placed.artifactPath,
      sectionPath: section === undefined ? null : await makeSection(workspace, section),
      ...(namesChanges(agent, stage) ? await changesBefore({ record: placed, detail }, parts) : NO_CHANGES),
      pending,
      currentDateTime: parts.localTime(clock()),
    });
    const step = placed.steps.length + offset;
    const asked = { step, slot, stage, session, agent, systemPrompt, prompt, maxCostUsd };
    orders.set(step, orderStep(asked, { record: placed, detail }, parts));
    starts.push({ kind: "agent", slot, stage, input: prompt, session, artifactBefore });
  }
  await keepFiles({ record: placed, detail, content }, [...orders.keys()], parts);
  return { record: withoutPending(beginSteps(placed, starts, clock()), pending), orders };
}

/** A relay that was made of a turn has no workspace until a step needs one. */
async function withWorkspace(record: RelayRecord, home: string): Promise<RelayRecord> {
  const { path, artifact } = await makeWorkspace(home, record.id);
  return record.workspacePath === path ? record : { ...record, workspacePath: path, artifactPath: artifact };
}

/** Whether a session that is to be continued has a turn to continue from. */
export async function hasHead(session: SessionKey, { store }: Pick<EngineParts, "store">): Promise<boolean> {
  return (await store.sessions.get(session))?.head !== undefined;
}

export const NO_CHANGES = { modifiedFiles: "", modifiedFilesWithDiff: "" };

/** What the steps before have done to files. */
export async function changesBefore(
  { record, detail }: Pick<KeptRelay, "record" | "detail">,
  { store, home }: EngineParts,
): Promise<typeof NO_CHANGES> {
  const folder = detail.dir ?? record.workspacePath;
  const called: FileChange[] = [];
  const seen: FileChange[] = [];
  for (const { stepIndex, executionId, artifactBefore } of lastAnswered(record).toSorted(byEnd)) {
    const turn = executionId === null ? undefined : await store.turns.read(executionId as never);
    const before = artifactBefore === null ? undefined : await readKept(home, artifactBefore);
    const originals = new Map(before === undefined ? [] : [[record.artifactPath, before]]);
    const touches = touchesOfCalls(turn?.toolCalls ?? [], { workspace: folder, originals });
    const logged = touches.length > 0 ? [] : await readActivity(home, executionId);
    called.push(...(await replayTouches([...touches, ...logged])));
    seen.push(...(await readChanges(home, record.id, stepIndex)));
  }
  const changes = mergeChanges(called, seen);
  return { modifiedFiles: renderFiles(changes), modifiedFilesWithDiff: renderDiffs(changes) };
}

/** What steps of a fan-out see of each other's changes, the last of them sees whole. */
function byEnd(a: RelayStep, b: RelayStep): number {
  return Date.parse(a.endedAt!) - Date.parse(b.endedAt!);
}

function slotUnknown(slot: string, id: string): CortexError {
  return new CortexError("agent_unknown", `Relay ${id} has no agent called "${slot}"`, {
    hint: `\`cortex relay add ${id} <agent>\` adds one, once the relay is over.`,
  });
}
