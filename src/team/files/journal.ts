/**
 * Our edits of a file, one per line: `.cortex/journal/<path>.jsonl`. It is read and written under the lock of the file. Its
 * last line has the hash of what we last wrote or saw, which reveals changes by others; edits that others have overwritten
 * are redone from it. Losing the journal loses nothing else.
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

import { KEPT_FOLDER, openKeptFolder } from "./confine.ts";
import type { FileEdit } from "../markdown/edit.ts";
import { hasCode } from "../../model/error-code.ts";

/** Beyond this, the older half is dropped. */
export const MAX_JOURNAL_BYTES = 256 * 1024;

export interface EditRecord {
  readonly atMs: number;
  /** Of the whole file, after the edit. */
  readonly hash: string;
  readonly bytes: number;
  /** Undefined: the file was created, seen, or restored. */
  readonly edit?: FileEdit | undefined;
  /** The edited task, before the edit. */
  readonly block?: string | undefined;
  /** How often the edit was redone outside races; within a race there is no limit. */
  readonly again?: number | undefined;
  /** When a change by others was last noticed. */
  readonly othersMs?: number | undefined;
  /** The name of the snapshot of the previous content. */
  readonly snapshot?: string | undefined;
  /** Keys of edits of removed tasks, which are not redone. See `placeOf` in `restore-lost.ts`. */
  readonly gone?: readonly string[] | undefined;
  /** The snapshot that was restored: edits before this entry are not redone. */
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
    // If the last line was cut off, start a new one.
    addTo(path, `${endsWhole(path) ? "" : "\n"}${lines.join("\n")}\n`);
  }
}

/** Follows no link. */
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

/** Undefined: the line was cut off, or we did not write it. */
function parse(line: string): EditRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is EditRecord {
  return typeof value === "object" && value !== null && "hash" in value && "atMs" in value;
}
