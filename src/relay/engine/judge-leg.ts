/** Handles steps that have ended: merges their sections and evaluates the transitions. */
import assert from "node:assert/strict";
import { join } from "node:path";

import {
  keepArtifact,
  mergeSections,
  readArtifact,
  readKept,
  type Section,
  type Workspace,
  workspaceOf,
  writeArtifact,
} from "../artifact/artifact.ts";
import { conclude, type MoveDraft, failRelay, isLasting, isRunning } from "./draft.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { decideNext } from "./transitions.ts";
import { findAbort } from "../record/abort-marker.ts";
import { OWNER_PRINCIPAL } from "../../model/principal.ts";
import { FileLabels } from "../../personas/file-labels.ts";
import { labelOfRelay, principalOfRelay } from "./relay-label.ts";
import type { KeptRelay, RelayDetail } from "../record/kept-relay.ts";
import { sectionFiles } from "../record/next-step.ts";
import { follow, stepsOfLeg } from "../record/record-step.ts";
import type { RelayStep } from "../record/record.ts";

/** False: parallel steps have not ended yet. */
export async function judgeLeg(
  draft: MoveDraft,
  { content, detail }: Pick<KeptRelay, "content" | "detail">,
  { home, clock, store }: Pick<EnginePorts, "home" | "clock" | "store">,
): Promise<boolean> {
  // A failed step may have been repeated; only the repetition counts.
  const leg = stepsOfLeg(draft.record).filter(({ status }) => status !== "failed");
  if (draft.record.active.length > 1 && !leg.some(isRunning)) await merge(draft, detail, { home, store });
  const texts = {
    before: await textBefore(leg[0], home),
    artifact: await textNow(draft, home),
    output: leg.map(({ output }) => output ?? "").join("\n\n"),
    ...(draft.abort === undefined ? {} : { abort: draft.abort }),
  };
  try {
    const decision = await decideNext({ template: content.template, record: draft.record, texts });
    if (decision.kind === "wait") return false;
    if (decision.kind === "go") draft.record = follow(draft.record, decision, clock());
    else conclude(draft, decision, clock());
  } catch (error) {
    failRelay(draft, error, clock());
  }
  return true;
}

/** No transition follows a step inserted by a script, but it may abort the relay. */
export async function judgeInserted(
  draft: MoveDraft,
  { record: saved }: Pick<KeptRelay, "record">,
  { home, clock }: Pick<EnginePorts, "home" | "clock">,
): Promise<void> {
  const step = draft.record.steps.at(-1);
  const hasJustEnded = step !== undefined && saved.steps[step.stepIndex]?.status === "running";
  if (step?.kind !== "inserted" || !hasJustEnded) return; // otherwise the relay was resumed since
  const text = await textNow(draft, home);
  const written = text === undefined ? undefined : await findAbort(await textBefore(step, home), text);
  const abort = draft.abort ?? written;
  if (abort !== undefined) conclude(draft, { stopReason: "aborted", abortReason: abort.reason }, clock());
}

async function textNow({ artifact, record }: MoveDraft, home: string): Promise<string | undefined> {
  if (artifact !== undefined) return artifact.text;
  const read = await readArtifact(workspaceOf(home, record.id));
  return read.kind === "read" ? read.text : undefined;
}

async function textBefore(step: RelayStep | undefined, home: string): Promise<string> {
  const hash = step?.artifactBefore ?? null;
  return (hash === null ? undefined : await readKept(home, hash)) ?? "";
}

/** Repeating it after a crash changes nothing: the sections are recognised. */
async function merge(
  draft: MoveDraft,
  detail: RelayDetail,
  { home, store }: Pick<EnginePorts, "home" | "store">,
): Promise<void> {
  const { record } = draft;
  const workspace = workspaceOf(home, record.id);
  const read = await readArtifact(workspace);
  if (read.kind === "unreadable") return; // do not overwrite it; the agents' answers count instead
  const merged = mergeSections(read.kind === "read" ? read.text : "", await readSections(draft, workspace));
  try {
    const files = new FileLabels({ labels: store.labels, home, foreign: [] });
    const label = await labelOfRelay(record, detail, store);
    const principal = await principalOfRelay(detail, store);
    const writer = { principal, audience: OWNER_PRINCIPAL, turn: undefined };
    const write = (): Promise<void> => writeArtifact(workspace, merged);
    await files.write(workspace.artifact, Buffer.from(merged), label, writer, write);
  } catch (error) {
    if (!isLasting(error)) throw error;
    return; // likewise if an agent made the folder read-only
  }
  const last = stepsOfLeg(record).at(-1);
  assert(last !== undefined, "a leg has at least one step");
  const artifactHash = await keepArtifact(home, merged);
  draft.artifact = { text: merged, hash: artifactHash };
  draft.record = { ...record, steps: record.steps.with(last.stepIndex, { ...last, artifactHash }) };
}

async function readSections({ record }: MoveDraft, workspace: Workspace): Promise<Section[]> {
  const sections: Section[] = [];
  for (const { title, file } of sectionFiles(record)) {
    const read = await readArtifact(workspace, join(workspace.path, file));
    if (read.kind === "read") sections.push({ title, text: read.text });
  }
  return sections;
}
