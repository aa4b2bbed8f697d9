/**
 * One write of a file of the team, under its lock: read, restore what others have overwritten, change, swap, record in the
 * journal. If another program was faster, start over.
 */
import { accessSync, constants } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { FileEdit } from "../markdown/edit.ts";
import { fileTooLarge, fileMissing, readOnly } from "./team-errors.ts";
import { hasCode } from "../../model/error-code.ts";
import type { FileLock } from "./file-lock.ts";
import { excessOf, type TeamFileState, hashOf, readSettled } from "./file-state.ts";
import { EditJournal, type EditRecord } from "./journal.ts";
import { type AddedTask, blockOf, type RedoneEdit, type Restored, restoreLost } from "./restore-lost.ts";
import { REMOVED_FILE, setAside } from "./set-aside.ts";
import { Snapshots } from "./snapshots.ts";
import { swapFile } from "./swap-file.ts";

/** How often to try a write under one lock while others change the file. */
const MAX_ATTEMPTS = 50;
/** For this long after a change by others, they are taken to be at work. */
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
  /** Redone if others overwrite it. */
  readonly edit?: FileEdit;
  /** The snapshot that it restores. */
  readonly undone?: string;
}

export interface Written {
  readonly text: string;
  /** False: the file had this content already. */
  readonly changed: boolean;
}

export interface WriteOutcome extends Written {
  readonly restored: readonly FileEdit[];
}

/**
 * Undefined: the lock was lost, or others kept writing. `change` is called again if the file has changed; `isAfterOurs` says
 * that its previous result was in the file for a moment, so that the new text may be based on it.
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
  let changedMs = Infinity; // of the first change by others; repeated writes come without our edits
  for (let attempt = 0; attempt < MAX_ATTEMPTS && lock.isHeld(); attempt++) {
    const nowMs = clock();
    const before = await readSettled(file, path, { bytesBefore: last?.bytes ?? 0, last: last?.hash, nowMs });
    if (before === undefined) throw fileMissing(path);
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
    if (excess !== undefined) throw fileTooLarge(path, excess);
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
    // A file that we never wrote needs no journal.
    if (isChange || (last !== undefined && before.hash !== last.hash))
      writeDown(
        target,
        journal,
        entriesFor({ restored, wanted, atMs: clock(), othersMs, snapshot: snapshot && basename(snapshot) }),
      );
    for (const { edit } of restored.edits)
      target.log(`team: redid ${edit.edit.kind} in ${path}, which was overwritten`);
    const changed = isChange || overtaken !== undefined;
    return { text: wanted.text, changed, restored: restored.edits.map(({ edit }) => edit) };
  }
  return undefined;
}

/**
 * Replacing a file needs only a writable folder. But replacing a file that we may not write would take it away from its
 * owner. Root may write anything, so the mode counts too.
 */
function isWritable(file: string, { mode }: TeamFileState): boolean {
  if ((mode & 0o222) === 0) return false;
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch (error) {
    return !hasCode(error, "EACCES", "EROFS", "EPERM"); // if it is gone, the swap notices
  }
}

/** Runs before the journal records the removal: a process killed in between does it again. */
function keepAside({ file, path, log }: TeamFile, tasks: readonly AddedTask[]): void {
  const shown = removedBeside(path);
  const titles = tasks.map(({ title }) => JSON.stringify(title.trim())).join(", ");
  try {
    setAside(removedBeside(file), shown, tasks);
    log(`team: ${titles} vanished from ${path}; an inactive copy is in ${shown}`);
  } catch (error) {
    log(`team: ${titles} vanished from ${path}; cannot write a copy to ${shown}: ${messageOf(error)}`);
  }
}

function removedBeside(path: string): string {
  return join(dirname(path), REMOVED_FILE);
}

/** A failure is only logged: the file itself is written by now. */
export function writeDown(
  { path, log }: Pick<TeamFile, "path" | "log">,
  journal: EditJournal,
  entries: readonly EditRecord[],
): void {
  try {
    journal.append(entries);
  } catch (error) {
    log(`team: cannot write the journal of ${path}: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A file of others that we replaced without having read it. */
interface Overtaken {
  readonly by: TeamFileState;
  /** The hash of what we wrote in its place. */
  readonly ours: string;
}

/**
 * The text to base the next one on: the current file, or the content of others that our last write replaced unread.
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
  // A late write counts only if others have not written since: theirs would be newer.
  const late =
    last?.snapshot === undefined ? undefined : await snapshots.stray(last.snapshot, before, clock());
  if (late === undefined) return before;
  if (before.hash === last?.hash && late.bytes >= before.bytes / 2) return late;
  log(`team: another program wrote to ${path} after it was replaced; see its snapshot ${last?.snapshot}`);
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
  /** When the text was in place, which may be much later than when the write began. */
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
