/**
 * What an agent did to files: from its calls of our tools, or from the activity log of an agent that edits files itself
 * (one JSON object per line; other lines are ignored).
 */
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inSlices, linesOf, type Sliced } from "../../model/in-slices.ts";
import type { ToolCall } from "../../model/message.ts";
import { canonicalToolName } from "../../model/tool-aliases.ts";
import type { FileTouch, Hunk, Replacement } from "./file-changes.ts";

/** A longer log is not read. */
export const MAX_ACTIVITY_BYTES = 32 * 1024 * 1024;
/** A longer line is ignored: files that large are not compared anyway. */
export const MAX_ACTIVITY_LINE_LENGTH = 2 * 1024 * 1024;

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

interface CallPlace {
  /** The folder that relative paths start from. */
  readonly workspace: string;
  /** Known contents of files before the turn, by absolute path. */
  readonly originals?: ReadonlyMap<string, string>;
}

/** In the order of the calls. */
export function touchesOfCalls(
  calls: readonly ToolCall[],
  { workspace, originals }: CallPlace,
): readonly FileTouch[] {
  return calls.flatMap((call): FileTouch[] => {
    const tool = canonicalToolName(call.tool);
    if (tool !== "Write" && tool !== "Edit") return [];
    if (call.status !== "ok" && call.status !== "unknown") return [];
    const params = isFields(call.params) ? call.params : {};
    const named = params["path"] ?? params["file_path"];
    if (typeof named !== "string" || named.trim() === "") return [];
    const path = resolve(workspace, named);
    // The process died during the call.
    if (call.status === "unknown") return [{ path, done: { kind: "unknown", why: "interrupted" } }];
    return [{ path, original: originals?.get(path), done: doneByCall(params) }];
  });
}

/** Our parameters, and those of agents whose equivalent tools name them differently. */
function doneByCall({ content, edits, old_string: oldText, new_string: newText }: Fields): FileTouch["done"] {
  if (typeof content === "string") return { kind: "write", content };
  const replacements: readonly unknown[] = Array.isArray(edits) ? edits : [{ oldText, newText }];
  return replacements.every(isReplacement)
    ? { kind: "replace", edits: replacements }
    : { kind: "unknown", why: "no texts" };
}

/** Empty if the session has no readable log. */
export async function readActivity(home: string, sessionId: string | null): Promise<readonly FileTouch[]> {
  if (sessionId === null || !SESSION_ID.test(sessionId)) return [];
  const path = join(home, "logs", "session-activity", `${sessionId}.jsonl`);
  try {
    const { size } = await stat(path);
    return size > MAX_ACTIVITY_BYTES ? [] : await parseActivity(await readFile(path, "utf8"));
  } catch {
    return []; // a prompt without file names is better than none
  }
}

/** In chronological order. */
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

function parseLine(line: string): Fields | undefined {
  if (!line.includes('"file_path"')) return undefined; // much faster than letting JSON.parse fail
  try {
    const entry: unknown = JSON.parse(line);
    return isFields(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

function touchOf(entry: Fields): FileTouch | undefined {
  const { event, file_path: file, device, originalFile } = entry;
  const path = typeof file === "string" ? file.trim() : "";
  if ((event !== "edit_file" && event !== "write_file") || path === "") return undefined;
  return {
    path,
    ...(typeof device === "string" ? { device } : {}),
    ...(typeof originalFile === "string" || originalFile === null ? { original: originalFile } : {}),
    done: doneIn(entry),
  };
}

function doneIn({ diffDegraded, originalFile, writtenContent, structuredPatch }: Fields): FileTouch["done"] {
  if (diffDegraded === true) return { kind: "unknown", why: "too large" };
  if (typeof writtenContent === "string") return { kind: "write", content: writtenContent };
  if (originalFile === undefined) return { kind: "unknown", why: "no snapshot" };
  if (!Array.isArray(structuredPatch) || !structuredPatch.every(isHunk))
    return { kind: "unknown", why: "no patch" };
  return { kind: "patch", hunks: structuredPatch };
}

function isHunk(value: unknown): value is Hunk {
  if (!isFields(value)) return false;
  const { lines, oldStart, oldLines, newStart, newLines } = value;
  return (
    [oldStart, oldLines, newStart, newLines].every(Number.isSafeInteger) &&
    Array.isArray(lines) &&
    lines.every((line) => typeof line === "string")
  );
}

function isReplacement(value: unknown): value is Replacement {
  return isFields(value) && typeof value["oldText"] === "string" && typeof value["newText"] === "string";
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
