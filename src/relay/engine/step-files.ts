/**
 * Detects file changes that a step makes without our tools, through programs or an agent's own editing: compares the
 * folders of the relay before and after the step.
 *
 * The snapshot before is written before the step is requested, so a crash during the step does not lose it. At the end of
 * the step the changes replace it. Repeating that after a crash finds the changes already written.
 */
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TurnId } from "../../model/ids.ts";
import { hasCode } from "../../model/error-code.ts";
import { joinLabels, type Label, NO_LABEL } from "../../model/trust.ts";
import { isInPlace, readKept } from "../artifact/artifact.ts";
import { renderDiffs, renderFiles } from "../artifact/changes.ts";
import { readActivity, touchesOfCalls } from "../artifact/touches.ts";
import { lastAnswered } from "../record/next-step.ts";
import type { RelayStep } from "../record/record.ts";
import {
  labelChanges,
  type LabelledChange,
  type LabelPorts,
  type LabelsOfFiles,
  labelsOfFiles,
  tellable,
} from "./change-labels.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { readLabel } from "./relay-label.ts";
import { type FileChange, mergeChanges, replayTouches } from "../artifact/file-changes.ts";
import {
  compareSnapshots,
  type FileSnapshot,
  type FolderSnapshot,
  type SnapshotPlace,
  snapshotFolders,
} from "../artifact/folder-snapshot.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import type { RelayAgent, SnapshotContent } from "../templates/snapshot.ts";
import { writeWhole } from "../../store/write-whole.ts";

type Relay = Pick<KeptRelay, "record" | "detail" | "content">;

/** Stores the state of the files before these steps begin. */
export async function keepFiles(
  relay: Relay,
  steps: readonly number[],
  ports: LabelPorts & Pick<EnginePorts, "clock">,
): Promise<void> {
  if (!asksForChanges(relay.content)) return;
  const snapshot = await snapshotFolders(await placeOf(relay, ports.home), ports.clock);
  const { files, isWhole } = snapshot;
  const kept: KeptFiles = { isWhole, files: [...files], labels: await labelsOfFiles(snapshot, relay, ports) };
  for (const step of steps) await writeJson(pathOf(ports.home, relay.record.id, step, "before"), kept);
}

/** Stores the changes of a step that has ended, with their labels at that time. */
export async function keepChanges(
  relay: Relay,
  step: number,
  ports: LabelPorts & Pick<EnginePorts, "clock">,
): Promise<void> {
  if (!asksForChanges(relay.content)) return;
  const { home, clock } = ports;
  const { id } = relay.record;
  const path = pathOf(home, id, step, "changes");
  const old = pathOf(home, id, step, "before");
  const before = await readJson<KeptFiles>(old);
  if (before === undefined) return;
  if ((await readJson(path)) === undefined) {
    const after = await snapshotFolders(await placeOf(relay, home), clock);
    const changes = await compareSnapshots(toSnapshot(before), after);
    await writeJson(path, await labelChanges(changes, { before: before.labels, after }, relay, ports));
  }
  await rm(old, { force: true });
}

/** What a prompt tells of changes, and whose words that holds. */
export interface ToldChanges {
  readonly texts: { readonly modifiedFiles: string; readonly modifiedFilesWithDiff: string };
  readonly label: Label;
}

export const NO_CHANGES: ToldChanges = {
  texts: { modifiedFiles: "", modifiedFilesWithDiff: "" },
  label: NO_LABEL,
};

/** The file changes of the previous steps. */
export async function changesBefore(
  { record, detail }: Pick<KeptRelay, "record" | "detail">,
  { store, home }: EnginePorts,
): Promise<ToldChanges> {
  const folder = detail.dir ?? record.workspacePath;
  const called: FileChange[] = [];
  const seen: LabelledChange[] = [];
  for (const { stepIndex, executionId, artifactBefore } of lastAnswered(record).toSorted(byEnd)) {
    const turn = executionId === null ? undefined : await store.turns.read(executionId as TurnId);
    const before = artifactBefore === null ? undefined : await readKept(home, artifactBefore);
    const originals = new Map(before === undefined ? [] : [[record.artifactPath, before]]);
    const touches = touchesOfCalls(turn?.toolCalls ?? [], { workspace: folder, originals });
    const logged = touches.length > 0 ? [] : await readActivity(home, executionId);
    called.push(...(await replayTouches([...touches, ...logged])));
    seen.push(...((await readJson<LabelledChange[]>(pathOf(home, record.id, stepIndex, "changes"))) ?? []));
  }
  const told = await tellable(seen, { detail }, { store });
  const changes = mergeChanges(called, told);
  return {
    texts: { modifiedFiles: renderFiles(changes), modifiedFilesWithDiff: renderDiffs(changes) },
    label: joinLabels(NO_LABEL, ...told.map(({ label }) => readLabel(label))),
  };
}

/** In a fan-out, the step that ends last sees all changes. */
function byEnd(a: RelayStep, b: RelayStep): number {
  return Date.parse(a.endedAt ?? "") - Date.parse(b.endedAt ?? "");
}

export async function forgetChanges(home: string, id: string): Promise<void> {
  await rm(folderOf(home, id), { recursive: true, force: true });
}

/** Whether an agent's prompt includes the changes of the previous step. */
export function namesChanges({ stages, promptTemplate = "" }: RelayAgent, stage: string | null): boolean {
  const prompt = (stage === null ? undefined : stages?.[stage]?.promptTemplate) ?? promptTemplate;
  return prompt.includes("modifiedFiles");
}

function asksForChanges({ template, added }: SnapshotContent): boolean {
  return [...added, ...(template?.agents ?? [])].some((agent) =>
    [null, ...Object.keys(agent.stages ?? {})].some((stage) => namesChanges(agent, stage)),
  );
}

/** The relay's own folder comes first, because it is small. Folders that Cortex itself writes to are left out. */
async function placeOf({ record, detail }: Relay, home: string): Promise<SnapshotPlace> {
  const own = (await isInPlace(record.workspacePath)) ? [record.workspacePath] : [];
  return {
    folders: [...own, ...(detail.dir === undefined ? [] : [detail.dir])],
    without: ["data", "logs", "tmp"].map((name) => join(home, name)),
  };
}

interface KeptFiles {
  readonly isWhole: boolean;
  readonly files: readonly (readonly [path: string, file: FileSnapshot])[];
  readonly labels: LabelsOfFiles;
}

function toSnapshot({ isWhole, files }: KeptFiles): FolderSnapshot {
  return { isWhole, files: new Map(files) };
}

function folderOf(home: string, id: string): string {
  return join(home, "data", "relay-files", id);
}

function pathOf(home: string, id: string, step: number, what: "before" | "changes"): string {
  return join(folderOf(home, id), `${step}-${what}.json`);
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeWhole(path, JSON.stringify(value), { mode: 0o600 });
}

/** Only this file writes these files. One left half written by a power cut counts as missing. */
async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
