/**
 * What a step does to files by itself: by programs that it runs, or because its agent edits without our tools. The
 * folders of the relay are looked at before the step begins and when it has ended.
 *
 * What they were like before is written before the message that asks for the step is, so that a crash in the midst of the
 * step does not lose it. At its end the changes take its place. Done again after a crash, they are found where they are.
 */
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readActivity } from "../artifact/touches.ts";
import { isInPlace, readKept } from "../artifact/artifact.ts";
import { renderDiffs, renderFiles } from "../artifact/changes.ts";
import { touchesOfCalls } from "../artifact/touches.ts";
import { lastAnswered } from "../record/next-step.ts";
import type { RelayStep } from "../record/record.ts";
import type { EnginePorts } from "./engine-ports.ts";
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

/** Keeps what the files are like that these steps, which are about to begin, may change. */
export async function keepFiles(
  relay: Relay,
  steps: readonly number[],
  ports: Pick<EnginePorts, "home" | "clock">,
): Promise<void> {
  if (!asksForChanges(relay.content)) return; // nobody would be told
  const { files, isWhole } = await snapshotFolders(await placeOf(relay, ports.home), ports.clock);
  const kept: KeptFiles = { isWhole, files: [...files] };
  for (const step of steps) await writeJson(pathOf(ports.home, relay.record.id, step, "before"), kept);
}

/** Keeps what has become of them, now that the step has ended. */
export async function keepChanges(
  relay: Relay,
  step: number,
  { home, clock }: Pick<EnginePorts, "home" | "clock">,
): Promise<void> {
  if (!asksForChanges(relay.content)) return;
  const { id } = relay.record;
  const path = pathOf(home, id, step, "changes");
  const old = pathOf(home, id, step, "before");
  const before = (await readJson(old)) as KeptFiles | undefined;
  if (before === undefined) return;
  if ((await readJson(path)) === undefined) {
    const after = await snapshotFolders(await placeOf(relay, home), clock);
    await writeJson(path, await compareSnapshots(toSnapshot(before), after));
  }
  await rm(old, { force: true });
}

/** Empty where nobody has looked. */
async function readChanges(home: string, id: string, step: number): Promise<readonly FileChange[]> {
  return ((await readJson(pathOf(home, id, step, "changes"))) ?? []) as readonly FileChange[];
}

export const NO_CHANGES = { modifiedFiles: "", modifiedFilesWithDiff: "" };

/** What the steps before have done to files. */
export async function changesBefore(
  { record, detail }: Pick<KeptRelay, "record" | "detail">,
  { store, home }: EnginePorts,
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

export async function forgetChanges(home: string, id: string): Promise<void> {
  await rm(folderOf(home, id), { recursive: true, force: true });
}

/** Whether an agent's prompt says what the step before has changed. */
export function namesChanges({ stages, promptTemplate = "" }: RelayAgent, stage: string | null): boolean {
  const prompt = (stage === null ? undefined : stages?.[stage]?.promptTemplate) ?? promptTemplate;
  return prompt.includes("modifiedFiles");
}

function asksForChanges({ template, added }: SnapshotContent): boolean {
  return [...added, ...(template?.agents ?? [])].some((agent) =>
    [null, ...Object.keys(agent.stages ?? {})].some((stage) => namesChanges(agent, stage)),
  );
}

/** The relay's own folder first: it is small. In a home, what Cortex itself writes to is not what a step has changed. */
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

/** What a power cut has left half written is not there. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
