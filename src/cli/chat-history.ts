/**
 * What was typed in chats before, so that the arrows bring it back. One JSON string a line, appended, so that two
 * chats do not disturb each other. Only the owner can read it, and what is configured as a secret is not in it.
 */
import { renameSync } from "node:fs";

import { appendPrivate, readPrivate, writePrivate } from "../model/private-file.ts";
import type { Redact } from "../model/redact.ts";
import { chatHistoryPath } from "../config/home.ts";
import { MAX_HISTORY } from "../terminal/editor.ts";

/** What is longer was pasted, and is not typed again. */
export const MAX_ENTRY_LENGTH = 10_000;

/** Oldest first. A history that cannot be read is none: it is a convenience. */
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

/** Never fails: what is not kept is typed again. */
export async function keepEntry(home: string, text: string, redact: Promise<Redact>): Promise<void> {
  if (text.trim() === "" || text.length > MAX_ENTRY_LENGTH) return;
  try {
    const entry = `${JSON.stringify((await redact)(text))}\n`;
    appendPrivate(chatHistoryPath(home), entry);
  } catch {
    // The disk is full, the file is a link, or it is not known what is a secret.
  }
}

/** A line that a full disk has cut off is left out. */
function parseEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" ? [entry] : [];
  } catch {
    return [];
  }
}

/** What fails is tried again next time. */
function replace(path: string, lines: readonly string[]): void {
  const beside = `${path}.${process.pid}`;
  try {
    writePrivate(beside, `${lines.join("\n")}\n`);
    renameSync(beside, path);
  } catch {
    // There is no room for it, say.
  }
}
