/**
 * The files of a team directory, which many programs write: our processes, people's editors, other agents.
 *
 * A lock keeps our own writers apart; other programs ignore it. So a write is an edit of the current content, retried if
 * the file has changed meanwhile (`write-file.ts`). Edits that others have overwritten are redone (`restore-lost.ts`), and
 * what others wrote is in the file or in a snapshot (`swap-file.ts`).
 */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { applyEdit, isEditDone, settleEdit } from "../markdown/apply-edit.ts";
import { confinePath, type ConfinedTeamPath } from "./confine.ts";
import type { FileEdit } from "../markdown/edit.ts";
import { taskOfEdit } from "./restore-lost.ts";
import { fileBusy, unwritable } from "./team-errors.ts";
import { lockFile } from "./file-lock.ts";
import { readState, tryRead, hashOf } from "./file-state.ts";
import { EditJournal } from "./journal.ts";
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

interface TeamFolderOptions {
  /** Must exist when something is read or written. */
  readonly root: string;
  readonly clock: () => number;
  /** Reports redone edits, and edits by others that only a snapshot holds. */
  readonly log?: (line: string) => void;
  /** Called under the lock before a file is changed, with its path. */
  readonly onWrite?: ((path: string) => Promise<void>) | undefined;
}

/** How often to take the lock again if it was lost or others kept writing. */
const MAX_LOCKS = 3;

/** Paths are relative to the root, with `/`. Each method may throw `path_forbidden`. */
export class TeamFolder {
  readonly root: string;
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  readonly #onWrite: (path: string) => Promise<void>;
  /** Writers of this process queue here rather than for the lock, so they run in order. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor({ root, clock, log = () => {}, onWrite = async () => {} }: TeamFolderOptions) {
    this.root = root;
    this.#clock = clock;
    this.#log = log;
    this.#onWrite = onWrite;
  }

  /** Undefined: no such file. Throws `team_unreadable`. */
  async read(path: string): Promise<string | undefined> {
    const { file } = confinePath(this.root, path);
    const text = readState(file, path)?.text;
    if (text !== undefined) return text;
    // A process may be replacing the file, or was killed while it did.
    if (isMovedAway(file)) return this.#locked(path, async () => readState(file, path)?.text);
    return readState(file, path)?.text;
  }

  /**
   * Throws what `applyEdit` throws, `team_unwritable`, `team_unreadable`, and `state_conflict` (transient) if others keep
   * writing; the file is then unchanged. Idempotent.
   */
  edit(path: string, edit: FileEdit): Promise<Written> {
    return this.editFrom(path, () => edit);
  }

  /**
   * As `edit`, but chosen under the lock from the current content, so that no two claim the same task. `choose` may be
   * called several times; undefined means no edit.
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

  /** Any other change of the text. It is not redone if others overwrite it. */
  rewrite(path: string, change: (text: string) => string): Promise<Written> {
    return this.#change(path, (text) => ({ text: change(text) }));
  }

  /** Creates a file and its parent folders. False if it exists, which leaves it unchanged. */
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

  /** Redoes edits that others have overwritten, and returns them. Call it when a file may have changed. */
  async reconcile(path: string): Promise<readonly FileEdit[]> {
    const { file, path: real } = confinePath(this.root, path);
    const last = new EditJournal(this.root, real).last();
    if (last === undefined || (!existsSync(file) && !isMovedAway(file))) return [];
    const isQuiet = this.#clock() - last.atMs > OTHERS_MS; // no program still has it open from before our last write
    if (isQuiet && tryRead(file, path).state?.hash === last.hash) return [];
    return (await this.#change(path, (text) => ({ text }))).restored;
  }

  /** When a task with this gist was last dispatched, according to the journal; 0 if unknown. */
  addedMs(path: string, gist: string): number {
    const entries = new EditJournal(this.root, confinePath(this.root, path).path).entries();
    const added = entries.findLast(
      ({ edit }) => edit?.edit.kind === "add" && gistOf(taskOfEdit(edit.edit)) === gist,
    );
    return added?.atMs ?? 0;
  }

  /** Snapshots of one file or of all, oldest first. */
  history(path?: string): TeamSnapshot[] {
    const paths = path === undefined ? snapshotPaths(this.root) : [confinePath(this.root, path).path];
    return paths.flatMap((one) => new Snapshots(this.root, one).list()).toSorted((a, b) => a.atMs - b.atMs);
  }

  /**
   * Restores the content of a file before our last write; called again, the content before that. Without a path, it undoes
   * the last write of any file. The current content is kept as a snapshot too. Throws `state_conflict` if there is nothing
   * to undo.
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
      // Unreadable files and links are reported when they are named.
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
      const outcome = await this.#locked(path, async (target) => {
        await this.#onWrite(target.path);
        return writeFile(target, change);
      });
      if (outcome !== undefined) return outcome;
    }
    throw fileBusy(path);
  }

  async #locked<Result>(path: string, work: (target: TeamFile) => Promise<Result>): Promise<Result> {
    const place = confinePath(this.root, path);
    const before = this.#turns.get(place.file) ?? Promise.resolve();
    const mine = before.then(() => this.#lockedNow(place, work));
    const settled = mine.catch(() => {}); // reported to its caller
    this.#turns.set(place.file, settled);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(place.file) === settled) this.#turns.delete(place.file);
    }
  }

  async #lockedNow<Result>(
    { file, path }: ConfinedTeamPath,
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
  return new CortexError("state_conflict", `Nothing to undo in ${path}`, {
    hint: "Cortex's writes can be undone for 7 days; for changes by others, see the git history, if there is one.",
  });
}
