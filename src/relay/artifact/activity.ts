/**
 * What agents that edit files by themselves did to them, from the log that is kept of each of their sessions: one JSON
 * object a line. A line that is none of these is passed over.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { inSlices, linesOf, type Sliced } from "../../model/in-slices.ts";
import type { FileTouch, Hunk } from "./file-changes.ts";

/** A longer log is not read. */
export const MAX_ACTIVITY_BYTES = 32 * 1024 * 1024;
/** Nor is a longer line: files so large are not compared anyway. */
export const MAX_ACTIVITY_LINE_LENGTH = 2 * 1024 * 1024;

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** Empty where there is no log of the session, or none that can be read. */
export async function readActivity(home: string, sessionId: string | null): Promise<readonly FileTouch[]> {
  if (sessionId === null || !SESSION_ID.test(sessionId)) return [];
  const path = join(home, "logs", "session-activity", `${sessionId}.jsonl`);
  try {
    const { size } = await stat(path);
    return size > MAX_ACTIVITY_BYTES ? [] : await parseActivity(await readFile(path, "utf8"));
  } catch {
    return []; // a prompt without the names of files is better than none
  }
}

/** In the order of time. */
export function parseActivity(text: string): Promise<readonly FileTouch[]> {
  return inSlices(touchesIn(text));
}

function* touchesIn(text: string): Sliced<readonly FileTouch[]> {
  const touches: { ts: string; touch: FileTouch }[] = [];
  for (const line of linesOf(text)) {
    const entry = line.length > MAX_ACTIVITY_LINE_LENGTH ? undefined : parseLine(line);
    const touch = entry === undefined ? undefined : touchOf(entry);
    const ts = entry?.["ts"];
    if (touch !== undefined) touches.push({ ts: typeof ts === "string" ? ts : "", touch });
    yield;
  }
  return touches.toSorted((a, b) => (a.ts < b.ts ? -1 : Number(a.ts > b.ts))).map(({ touch }) => touch);
}

type Entry = Readonly<Record<string, unknown>>;

function parseLine(line: string): Entry | undefined {
  if (!line.includes('"file_path"')) return undefined; // finding out by an error takes long
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null ? (entry as Entry) : undefined;
  } catch {
    return undefined;
  }
}

function touchOf(entry: Entry): FileTouch | undefined {
  const { event, file_path: given, device, originalFile } = entry;
  const path = typeof given === "string" ? given.trim() : "";
  if ((event !== "edit_file" && event !== "write_file") || path === "") return undefined;
  return {
    path,
    ...(typeof device === "string" ? { device } : {}),
    ...(typeof originalFile === "string" || originalFile === null ? { original: originalFile } : {}),
    done: doneIn(entry),
  };
}

function doneIn({ diffDegraded, originalFile, writtenContent, structuredPatch }: Entry): FileTouch["done"] {
  if (diffDegraded === true) return { kind: "unknown", why: "too large" };
  if (typeof writtenContent === "string") return { kind: "write", content: writtenContent };
  if (originalFile === undefined) return { kind: "unknown", why: "no snapshot" };
  if (!Array.isArray(structuredPatch) || !structuredPatch.every(isHunk))
    return { kind: "unknown", why: "no patch" };
  return { kind: "patch", hunks: structuredPatch };
}

function isHunk(value: unknown): value is Hunk {
  if (typeof value !== "object" || value === null) return false;
  const { lines, ...numbers } = value as Readonly<Record<string, unknown>>;
  return (
    [numbers["oldStart"], numbers["oldLines"], numbers["newStart"], numbers["newLines"]].every(
      Number.isSafeInteger,
    ) &&
    Array.isArray(lines) &&
    lines.every((line) => typeof line === "string")
  );
}
