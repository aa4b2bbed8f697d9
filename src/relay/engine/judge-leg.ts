/** What comes after the steps that have ended: their sections are merged, and the rules are asked. */
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
import { conclude, type Draft, fail, isLasting, isRunning } from "./draft.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { decide } from "./transitions.ts";
import { findAbort } from "../record/abort-marker.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import { sectionFiles } from "../record/next-step.ts";
import { follow, stepsOfLeg } from "../record/record-step.ts";
import type { RelayStep } from "../record/record.ts";

/** False: others that run side by side with them have to end first. */
export async function judgeLeg(
  draft: Draft,
  { content }: Pick<KeptRelay, "content">,
  { home, clock }: Pick<EnginePorts, "home" | "clock">,
): Promise<boolean> {
  // What a step left that failed is not what the one did that was begun again in its place.
  const leg = stepsOfLeg(draft.record).filter(({ status }) => status !== "failed");
  if (draft.record.active.length > 1 && !leg.some(isRunning)) await merge(draft, home);
  const texts = {
    before: await textBefore(leg[0], home),
    artifact: await textNow(draft, home),
    output: leg.map(({ output }) => output ?? "").join("\n\n"),
    ...(draft.abort === undefined ? {} : { abort: draft.abort }),
  };
  try {
    const decision = await decide({ template: content.template, record: draft.record, texts });
    if (decision.kind === "wait") return false;
    if (decision.kind === "go") draft.record = follow(draft.record, decision, clock());
    else conclude(draft, decision, clock());
  } catch (error) {
    fail(draft, error, clock());
  }
  return true;
}

/** A step that a script asked for is left by no rule, but it may abort the relay. */
export async function judgeInserted(
  draft: Draft,
  { record: saved }: Pick<KeptRelay, "record">,
  { home, clock }: Pick<EnginePorts, "home" | "clock">,
): Promise<void> {
  const step = draft.record.steps.at(-1);
  const hasJustEnded = step !== undefined && saved.steps[step.stepIndex]?.status === "running";
  if (step?.kind !== "inserted" || !hasJustEnded) return; // otherwise the relay was resumed after it
  const text = await textNow(draft, home);
  const written = text === undefined ? undefined : await findAbort(await textBefore(step, home), text);
  const abort = draft.abort ?? written;
  if (abort !== undefined) conclude(draft, { stopReason: "aborted", abortReason: abort.reason }, clock());
}

async function textNow({ artifact, record }: Draft, home: string): Promise<string | undefined> {
  if (artifact !== undefined) return artifact.text;
  const read = await readArtifact(workspaceOf(home, record.id));
  return read.kind === "read" ? read.text : undefined;
}

async function textBefore(step: RelayStep | undefined, home: string): Promise<string> {
  const hash = step?.artifactBefore ?? null;
  return (hash === null ? undefined : await readKept(home, hash)) ?? "";
}

/** Done again after a crash, it finds the sections where it has put them. */
async function merge(draft: Draft, home: string): Promise<void> {
  const { record } = draft;
  const workspace = workspaceOf(home, record.id);
  const read = await readArtifact(workspace);
  if (read.kind === "unreadable") return; // it may hold more than can be read: what the agents answered counts then
  const merged = mergeSections(read.kind === "read" ? read.text : "", await readSections(draft, workspace));
  try {
    await writeArtifact(workspace, merged);
  } catch (error) {
    if (!isLasting(error)) throw error;
    return; // the same where an agent has made its folder read-only
  }
  const last = stepsOfLeg(record).at(-1)!;
  const artifactHash = await keepArtifact(home, merged);
  draft.artifact = { text: merged, hash: artifactHash };
  draft.record = { ...record, steps: record.steps.with(last.stepIndex, { ...last, artifactHash }) };
}

async function readSections({ record }: Draft, workspace: Workspace): Promise<Section[]> {
  const sections: Section[] = [];
  for (const { title, file } of sectionFiles(record)) {
    const read = await readArtifact(workspace, join(workspace.path, file));
    if (read.kind === "read") sections.push({ title, text: read.text });
  }
  return sections;
}
