/**
 * One write of a file of the team, under its lock: look, restore what others have overwritten, change, swap, write
 * down. Where others were faster, from the beginning.
 */
import { accessSync, constants } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { FileEdit } from "../markdown/edit.ts";
import { full, hasCode, missing, readOnly } from "./file-failure.ts";
import type { FileLock } from "./file-lock.ts";
import { excessOf, type TeamFileState, hashOf, readSettled } from "./file-state.ts";
import { EditJournal, type EditRecord } from "./journal.ts";
import { type AddedTask, blockOf, type RedoneEdit, type Restored, restoreLost } from "./restore-lost.ts";
import { REMOVED_FILE, setAside } from "./set-aside.ts";
import { Snapshots } from "./snapshots.ts";
import { swapFile } from "./swap-file.ts";

/** How often a write is tried under one lock where others change the file meanwhile. */
const MAX_ATTEMPTS = 50;
/** So long after a change by others they are taken to be at work. */
export const OTHERS_MS = 60_000;

export interface TeamFile {
  readonly root: string;
  /** Relative to the root. */
  readonly path: string;
  /** The file itself. */
  readonly file: string;
  readonly lock: FileLock;
  readonly clock: () => number;
  readonly log: (line: string) => void;
}

export interface TextChange {
  readonly text: string;
  /** To be done again where others overwrite it. */
  readonly edit?: FileEdit;
  /** The snapshot that it puts back. */
  readonly undone?: string;
}

export interface Written {
  readonly text: string;
  /** False: it said so already. */
  readonly changed: boolean;
}

export interface WriteOutcome extends Written {
  readonly restored: readonly FileEdit[];
}

/**
 * Undefined: the lock was lost, or others did not stop. `change` is called again where the text is another by then; it is
 * told whether that may have come from what it wrote, which was in the file for a moment.
 */
export async function writeFile(
  target: TeamFile,
  change: (text: string, isAfterOurs: boolean) => TextChange,
): Promise<WriteOutcome | undefined> {
  const { root, path, file, lock, clock } = target;
  const snapshots = new Snapshots(root, path);
  const journal = new EditJournal(root, path);
  const last = journal.last();
  let overtaken: Overtaken | undefined;
  let changedMs = Infinity; // by others, at first: who writes again and again has lost our edits by then
  for (let attempt = 0; attempt < MAX_ATTEMPTS && lock.isHeld(); attempt++) {
    const nowMs = clock();
    const before = await readSettled(file, path, { bytesBefore: last?.bytes ?? 0, last: last?.hash, nowMs });
    if (before === undefined) throw missing(path);
    const base = await baseOf(target, { before, last, overtaken, snapshots });
    const isByOthers = last !== undefined && base.hash !== last.hash;
    if (isByOthers) changedMs = Math.min(changedMs, base.changedMs);
    const restored = isByOthers
      ? restoreLost(base.text, { entries: journal.entries(), nowMs, changedMs })
      : { text: base.text, edits: [], gone: [], aside: [] };
    const wanted = change(restored.text, overtaken !== undefined && base === before);
    const othersMs = isByOthers ? nowMs : last?.othersMs;
    const isChange = wanted.text !== before.text;
    const excess = isChange ? excessOf(Buffer.from(wanted.text)) : undefined;
    if (excess !== undefined) throw full(path, excess);
    const snapshot = isChange ? snapshots.next(before, nowMs) : undefined;
    if (snapshot !== undefined) {
      if (!isWritable(file, before)) throw readOnly(path);
      const swapped = await swapFile({
        path: file,
        shown: path,
        text: wanted.text,
        before,
        snapshot,
        nowMs,
        areOthersAtWork: othersMs !== undefined && nowMs - othersMs < OTHERS_MS,
        isHeld: () => lock.isHeld(),
      });
      if (swapped.kind === "overtaken") overtaken = { by: swapped.by, ours: hashOf(wanted.text) };
      if (swapped.kind !== "done") continue;
    }
    if (restored.aside.length > 0) keepAside(target, restored.aside);
    // Of a file that we never wrote there is nothing to remember.
    if (isChange || (last !== undefined && before.hash !== last.hash))
      writeDown(
        target,
        journal,
        entriesFor({ restored, wanted, atMs: clock(), othersMs, snapshot: snapshot && basename(snapshot) }),
      );
    for (const { edit } of restored.edits)
      target.log(`team: ${edit.edit.kind} in ${path} was overwritten, and done again`);
    const changed = isChange || overtaken !== undefined;
    return { text: wanted.text, changed, restored: restored.edits.map(({ edit }) => edit) };
  }
  return undefined;
}

/**
 * A new file in the place of one needs only its folder to be writable. But who may not write the file itself would take
 * it away from its owner. The system lets root do anything, and so the mode counts too.
 */
function isWritable(file: string, { mode }: TeamFileState): boolean {
  if ((mode & 0o222) === 0) return false;
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch (error) {
    return !hasCode(error, "EACCES", "EROFS", "EPERM"); // gone: that is noticed when it is replaced
  }
}

/** Before it is written down that they are gone: whoever is killed between the two does it again. */
function keepAside({ file, path, log }: TeamFile, tasks: readonly AddedTask[]): void {
  const shown = removedBeside(path);
  const titles = tasks.map(({ title }) => JSON.stringify(title.trim())).join(", ");
  try {
    setAside(removedBeside(file), shown, tasks);
    log(`team: ${titles} vanished from ${path}; a copy is in ${shown}, and nobody works on it`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log(`team: ${titles} vanished from ${path}, and no copy can be written to ${shown}: ${why}`);
  }
}

function removedBeside(path: string): string {
  return join(dirname(path), REMOVED_FILE);
}

/** The file is written by now, and says so whether or not there is room for this. */
export function writeDown(
  { path, log }: Pick<TeamFile, "path" | "log">,
  journal: EditJournal,
  entries: readonly EditRecord[],
): void {
  try {
    journal.append(entries);
  } catch (error) {
    log(
      `team: the journal of ${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** What we have put in the place of something that we had not read. */
interface Overtaken {
  readonly by: TeamFileState;
  /** The hash of what we put there. */
  readonly ours: string;
}

/**
 * What the next text is made from: the file, unless that is what we wrote over the last words of somebody else. Then it
 * is what they wrote.
 */
async function baseOf(
  { path, log, clock }: TeamFile,
  {
    before,
    last,
    overtaken,
    snapshots,
  }: {
    before: TeamFileState;
    last: EditRecord | undefined;
    overtaken: Overtaken | undefined;
    snapshots: Snapshots;
  },
): Promise<TeamFileState> {
  if (overtaken !== undefined) return before.hash === overtaken.ours ? overtaken.by : before;
  // After the last write of ours, and not where others have written since: what is theirs is newer then.
  const late =
    last?.snapshot === undefined ? undefined : await snapshots.stray(last.snapshot, before, clock());
  if (late === undefined) return before;
  if (before.hash === last?.hash && late.bytes >= before.bytes / 2) return late;
  log(`team: somebody wrote to ${path} after it was replaced; that is in its snapshot ${last?.snapshot}`);
  return before;
}

function entriesFor({
  restored,
  wanted,
  atMs,
  othersMs,
  snapshot,
}: {
  restored: Restored;
  wanted: TextChange;
  /** When it was there to be overwritten, which may be much later than when it was begun. */
  atMs: number;
  othersMs: number | undefined;
  snapshot: string | undefined;
}): EditRecord[] {
  const gone = restored.gone.length === 0 ? undefined : restored.gone;
  const entry = { ...entryOf(wanted.text, atMs), othersMs, snapshot, gone };
  if (wanted.undone !== undefined) return [{ ...entry, undone: wanted.undone }];
  const done: RedoneEdit[] = [...restored.edits];
  if (wanted.edit !== undefined && wanted.text !== restored.text)
    done.push({ edit: wanted.edit, block: blockOf(restored.text, wanted.edit) });
  return done.length === 0 ? [entry] : done.map((one) => Object.assign({}, entry, one));
}

export function entryOf(text: string, atMs: number): EditRecord {
  return { atMs, hash: hashOf(text), bytes: Buffer.byteLength(text) };
}
