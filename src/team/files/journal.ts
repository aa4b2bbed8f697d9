/**
 * What we did to a file, one line each: `.cortex/journal/<path>.jsonl`. It is read and written under the lock of the
 * file. Its last line has the hash of what we wrote or saw last, so that a change by others is noticed; the edits before it
 * are done again where others have overwritten them. Losing it loses that, and no more.
 */
import {
  appendFileSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { KEPT_FOLDER } from "./confine.ts";
import type { FileEdit } from "../markdown/edit.ts";
import { hasCode } from "./file-failure.ts";
import { openKeptFolder } from "./snapshots.ts";

/** Beyond this, half of it goes, oldest first. */
export const MAX_JOURNAL_BYTES = 256 * 1024;

export interface EditRecord {
  readonly atMs: number;
  /** Of the whole file, after it. */
  readonly hash: string;
  readonly bytes: number;
  /** None: the file was made, seen, or put back. */
  readonly edit?: FileEdit | undefined;
  /** Of the task that was edited, before it. */
  readonly block?: string | undefined;
  /** It was done again: how often without a race, which is done again however often. */
  readonly again?: number | undefined;
  /** When a change by others was last noticed. */
  readonly othersMs?: number | undefined;
  /** The name of what the file held before, where it was written. */
  readonly snapshot?: string | undefined;
  /** Edits of tasks that somebody has taken out, by what they are of: they are not to be done again. */
  readonly gone?: readonly string[] | undefined;
  /** The snapshot that was put back: what was done before it is not to be done again. */
  readonly undone?: string | undefined;
}

export class EditJournal {
  readonly #root: string;
  readonly #file: string;
  readonly #lines: string[];

  constructor(root: string, path: string) {
    this.#root = root;
    this.#file = join(KEPT_FOLDER, "journal", `${path}.jsonl`);
    this.#lines = linesOf(join(root, this.#file));
  }

  last(): EditRecord | undefined {
    for (const line of this.#lines.toReversed()) {
      const entry = parse(line);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  entries(): EditRecord[] {
    return this.#lines.flatMap((line) => parse(line) ?? []);
  }

  append(entries: readonly EditRecord[]): void {
    const path = join(this.#root, this.#file);
    openKeptFolder(this.#root, dirname(this.#file));
    const lines = entries.map((entry) => JSON.stringify(entry));
    const all = [...this.#lines, ...lines];
    const bytes = all.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    if (bytes > MAX_JOURNAL_BYTES) return rewrite(path, newest(all));
    // One that was cut off while it was written is ended first.
    addTo(path, `${endsWhole(path) ? "" : "\n"}${lines.join("\n")}\n`);
  }
}

/** A link that somebody has put there is not followed. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

function addTo(path: string, text: string): void {
  const descriptor = openSync(path, APPEND, 0o666);
  try {
    appendFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

function rewrite(path: string, lines: readonly string[]): void {
  const draft = `${path}.tmp`;
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, `${lines.join("\n")}\n`, { flag: "wx" });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function newest(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines.toReversed()) {
    bytes += Buffer.byteLength(line) + 1;
    if (kept.length > 0 && bytes > MAX_JOURNAL_BYTES / 2) break;
    kept.unshift(line);
  }
  return kept;
}

function linesOf(path: string): string[] {
  return textOf(path)
    .split("\n")
    .filter((line) => line !== "");
}

function endsWhole(path: string): boolean {
  const text = textOf(path);
  return text === "" || text.endsWith("\n");
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  }
}

/** Undefined: it was cut off, or somebody else wrote it. */
function parse(line: string): EditRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isEntry = typeof value === "object" && value !== null && "hash" in value && "atMs" in value;
    return isEntry ? (value as EditRecord) : undefined;
  } catch {
    return undefined;
  }
}
