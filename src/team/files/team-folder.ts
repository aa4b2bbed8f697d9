/**
 * The files of a team directory, which many write: our processes, people's editors, agents of other programs.
 *
 * Our own writers are kept apart by a lock; the others know nothing of it. So a write is an edit of what the file says at
 * that moment, tried again where it says something else by then (`write-file.ts`); what others have overwritten is done
 * again (`restore-lost.ts`), and what they wrote is in the file or in a snapshot (`swap-file.ts`).
 */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { applyEdit, isEditDone, settleEdit } from "../markdown/apply-edit.ts";
import { confinePath, type ConfinedPath } from "./confine.ts";
import type { FileEdit } from "../markdown/edit.ts";
import { restless, unwritable } from "./file-failure.ts";
import { lockFile } from "./file-lock.ts";
import { readState, tryRead, hashOf } from "./file-state.ts";
import { EditJournal } from "./journal.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { type TeamSnapshot, Snapshots, snapshotPaths } from "./snapshots.ts";
import { clearUp, isMovedAway, makeFile } from "./swap-file.ts";
import { gistOf } from "../markdown/task-gist.ts";
import {
  type TextChange,
  entryOf,
  OTHERS_MS,
  type WriteOutcome,
  type TeamFile,
  writeDown,
  writeFile,
  type Written,
} from "./write-file.ts";
import { CortexError } from "../../model/errors.ts";

export interface TeamFolderOptions {
  /** Needs to be there when something is read or written. */
  readonly root: string;
  readonly clock: () => number;
  /** Told what was done again, and what others wrote that only a snapshot holds. */
  readonly log?: (line: string) => void;
}

/** How often the lock is taken anew where it was lost, or others did not stop. */
const MAX_LOCKS = 3;

/** Of the task that an edit adds. */
export function gistOfAdded(edit: FileEdit): string {
  return gistOf(readTasks(applyEdit("", edit)).tasks[0]!);
}

/** Paths are relative to the root, with `/`. Each method may throw `path_forbidden`. */
export class TeamFolder {
  readonly root: string;
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  /** Writers of this process wait here and not for the lock: in the order in which they came. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor({ root, clock, log = () => {} }: TeamFolderOptions) {
    this.root = root;
    this.#clock = clock;
    this.#log = log;
  }

  /** Undefined: there is no such file. Throws `team_unreadable`. */
  async read(path: string): Promise<string | undefined> {
    const { file } = confinePath(this.root, path);
    const text = readState(file, path)?.text;
    if (text !== undefined) return text;
    // Somebody may be replacing it, or have been killed while they did.
    if (isMovedAway(file)) return this.#locked(path, async () => readState(file, path)?.text);
    return readState(file, path)?.text;
  }

  /**
   * Throws what `applyEdit` does, `team_unwritable`, `team_unreadable`, and `state_conflict` (transient) where others
   * do not stop. The file is then as it was. Doing what is done already changes nothing.
   */
  async edit(path: string, edit: FileEdit): Promise<Written> {
    const { text, changed } = await this.editFrom(path, () => edit);
    return { text, changed };
  }

  /**
   * As `edit`, chosen under the lock by what the file says then: so two never claim the same task. `choose` may be
   * called several times. Undefined: nothing is to be done.
   */
  async editFrom(
    path: string,
    choose: (text: string) => FileEdit | undefined,
  ): Promise<Written & { readonly edit: FileEdit | undefined }> {
    let edit: FileEdit | undefined;
    const { text, changed } = await this.#change(path, (text, isAfterOurs) => {
      if (isAfterOurs && edit !== undefined && isEditDone(text, edit)) return { text, edit };
      const chosen = choose(text);
      edit = chosen === undefined ? undefined : settleEdit(text, chosen);
      return edit === undefined ? { text } : { text: applyEdit(text, edit), edit };
    });
    return { text, changed, edit };
  }

  /** Any other change of the text. It is not done again where others overwrite it. */
  async rewrite(path: string, change: (text: string) => string): Promise<Written> {
    const { text, changed } = await this.#change(path, (text) => ({ text: change(text) }));
    return { text, changed };
  }

  /** Makes a file, and the folders above it. False: it is there, and stays as it is. */
  async create(path: string, text: string): Promise<boolean> {
    try {
      mkdirSync(dirname(confinePath(this.root, path).file), { recursive: true });
    } catch (error) {
      throw unwritable(path, error);
    }
    return this.#locked(path, async (target) => {
      const isMade = await makeFile(target.file, text);
      if (isMade) writeDown(target, new EditJournal(this.root, target.path), [entryOf(text, this.#clock())]);
      return isMade;
    });
  }

  /** Does again what others have overwritten, and gives that. To be called when a file may have changed. */
  async reconcile(path: string): Promise<readonly FileEdit[]> {
    const { file, path: real } = confinePath(this.root, path);
    const last = new EditJournal(this.root, real).last();
    if (last === undefined || (!existsSync(file) && !isMovedAway(file))) return [];
    const isQuiet = this.#clock() - last.atMs > OTHERS_MS; // nobody has it open from before our last write
    if (isQuiet && tryRead(file, path).state?.hash === last.hash) return [];
    return (await this.#change(path, (text) => ({ text }))).restored;
  }

  /** When a task was last dispatched that asks for the same, as far as that is known; else 0. */
  addedMs(path: string, gist: string): number {
    const entries = new EditJournal(this.root, confinePath(this.root, path).path).entries();
    const added = entries.findLast(({ edit }) => edit?.edit.kind === "add" && gistOfAdded(edit) === gist);
    return added?.atMs ?? 0;
  }

  /** What files held before we wrote them, oldest first: of one, or of all. */
  history(path?: string): TeamSnapshot[] {
    const paths = path === undefined ? snapshotPaths(this.root) : [confinePath(this.root, path).path];
    return paths.flatMap((one) => new Snapshots(this.root, one).list()).toSorted((a, b) => a.atMs - b.atMs);
  }

  /**
   * Puts back what a file held before our last write of it, and when called again, what it held before that. Without a
   * path, the last write of any file, and when called again, the one before that. What the file says now is kept as a
   * snapshot too. Throws `state_conflict` where there is nothing to put back.
   */
  async undo(path?: string): Promise<Written & Pick<TeamSnapshot, "path" | "name" | "atMs">> {
    const chosen = path === undefined ? await this.#lastOfAll() : await this.#lastOf(path);
    if (chosen === undefined) throw nothingToUndo(path);
    const { path: real, name, atMs, text } = chosen;
    if (await this.create(real, text)) return { path: real, name, atMs, text, changed: true };
    const { changed } = await this.#change(real, () => ({ text, undone: name }));
    return { path: real, name, atMs, text, changed };
  }

  async #lastOf(path: string): Promise<SavedText | undefined> {
    const { path: real } = confinePath(this.root, path);
    return chooseSnapshot(this.root, real, await this.read(real));
  }

  async #lastOfAll(): Promise<SavedText | undefined> {
    let last: SavedText | undefined;
    for (const path of snapshotPaths(this.root)) {
      // Of one that cannot be read, or is a link by now, whoever names it is told.
      const chosen = await this.#lastOf(path).catch(() => undefined);
      if (chosen !== undefined && chosen.atMs >= (last?.atMs ?? 0)) last = chosen;
    }
    return last;
  }

  async #change(
    path: string,
    change: (text: string, isAfterOurs: boolean) => TextChange,
  ): Promise<WriteOutcome> {
    for (let locks = 0; locks < MAX_LOCKS; locks++) {
      const outcome = await this.#locked(path, (target) => writeFile(target, change));
      if (outcome !== undefined) return outcome;
    }
    throw restless(path);
  }

  async #locked<Result>(path: string, work: (target: TeamFile) => Promise<Result>): Promise<Result> {
    const place = confinePath(this.root, path);
    const before = this.#turns.get(place.file) ?? Promise.resolve();
    const mine = before.then(() => this.#lockedNow(place, work));
    const settled = mine.catch(() => {}); // whoever asked for it is told
    this.#turns.set(place.file, settled);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(place.file) === settled) this.#turns.delete(place.file);
    }
  }

  async #lockedNow<Result>(
    { file, path }: ConfinedPath,
    work: (target: TeamFile) => Promise<Result>,
  ): Promise<Result> {
    const { root } = this;
    try {
      using lock = await lockFile(file, { shown: path, clock: this.#clock });
      clearUp(file, new Snapshots(root, path));
      return await work({ root, path, file, lock, clock: this.#clock, log: this.#log });
    } catch (error) {
      throw unwritable(path, error);
    }
  }
}

interface SavedText extends TeamSnapshot {
  readonly text: string;
}

/**
 * Which snapshot `undo` restores: the newest that differs from the file, or after an undo, the one before that.
 * `text` is the current text of the file; undefined if it is missing.
 */
function chooseSnapshot(root: string, path: string, text: string | undefined): SavedText | undefined {
  const last = new EditJournal(root, path).last();
  const undone =
    last !== undefined && text !== undefined && last.hash === hashOf(text) ? last.undone : undefined;
  const candidates = new Snapshots(root, path)
    .list()
    .filter(({ name }) => undone === undefined || name < undone)
    .toReversed();
  for (const snapshot of candidates) {
    const state = readState(snapshot.file, path);
    if (state !== undefined && state.text !== text) return { ...snapshot, text: state.text };
  }
  return undefined;
}

function nothingToUndo(path = "the team directory"): CortexError {
  return new CortexError("state_conflict", `There is nothing to undo in ${path}`, {
    hint: "What Cortex writes can be undone for 7 days; what others wrote is in the history of git, if there is one.",
  });
}
