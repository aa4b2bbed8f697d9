/**
 * What was typed in chats before, so that the arrows bring it back. One JSON string a line, appended, so that two
 * chats do not disturb each other. Only the owner can read it, and what is configured as a secret is not in it.
 */
import { appendFile, readFile, rename, writeFile } from "node:fs/promises";

import type { Redact } from "../model/redact.ts";
import { chatHistoryPath } from "../runtime/home.ts";
import { MAX_HISTORY } from "./editor.ts";

/** What is longer was pasted, and is not typed again. */
export const MAX_ENTRY_LENGTH = 10_000;
const OWNER_ONLY = 0o600;

/** Oldest first. A history that cannot be read is none: it is a convenience. */
export async function readHistory(home: string): Promise<string[]> {
  const path = chatHistoryPath(home);
  const lines = (await readFile(path, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const kept = lines.slice(-MAX_HISTORY);
  if (lines.length > 2 * MAX_HISTORY) await replace(path, kept).catch(() => {}); // tried again next time
  return kept.flatMap(parseEntry);
}

/** Never fails: what is not kept is typed again. */
export async function keepEntry(home: string, text: string, redact: Promise<Redact>): Promise<void> {
  if (text.trim() === "" || text.length > MAX_ENTRY_LENGTH) return;
  try {
    const entry = `${JSON.stringify((await redact)(text))}\n`;
    await appendFile(chatHistoryPath(home), entry, { mode: OWNER_ONLY });
  } catch {
    // The disk is full, or it is not known what is a secret.
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

async function replace(path: string, lines: readonly string[]): Promise<void> {
  const beside = `${path}.${process.pid}`;
  await writeFile(beside, `${lines.join("\n")}\n`, { mode: OWNER_ONLY });
  await rename(beside, path);
}
