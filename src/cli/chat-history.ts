/**
 * The input history of chats: one JSON string per line, append-only, so that two chats can share it. Only the owner can
 * read the file, and configured secrets are redacted.
 */
import { renameSync } from "node:fs";

import { appendPrivate, readPrivate, writePrivate } from "../model/private-file.ts";
import type { Redact } from "../model/redact.ts";
import { chatHistoryPath } from "../config/home.ts";
import { MAX_HISTORY } from "../terminal/editor.ts";

/** Longer input was pasted; nobody recalls it with the arrow keys. */
export const MAX_ENTRY_LENGTH = 10_000;

/** Oldest first. An unreadable history counts as empty: it is only a convenience. */
export function readHistory(home: string): string[] {
  const path = chatHistoryPath(home);
  try {
    const lines = readPrivate(path)
      .split("\n")
      .filter((line) => line !== "");
    const kept = lines.slice(-MAX_HISTORY);
    if (lines.length > 2 * MAX_HISTORY) replace(path, kept);
    return kept.flatMap(parseEntry);
  } catch {
    return [];
  }
}

/** Never fails: a lost entry is no reason to disturb a chat. */
export async function keepEntry(home: string, text: string, redact: Promise<Redact>): Promise<void> {
  if (text.trim() === "" || text.length > MAX_ENTRY_LENGTH) return;
  try {
    const entry = `${JSON.stringify((await redact)(text))}\n`;
    appendPrivate(chatHistoryPath(home), entry);
  } catch {
    // The disk is full, the file is a link, or the secrets could not be read.
  }
}

/** Skips a line truncated by a full disk. */
function parseEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" ? [entry] : [];
  } catch {
    return [];
  }
}

/** On failure, the next start tries again. */
function replace(path: string, lines: readonly string[]): void {
  const draft = `${path}.${process.pid}`;
  try {
    writePrivate(draft, `${lines.join("\n")}\n`);
    renameSync(draft, path);
  } catch {
    // No space left, for example.
  }
}
