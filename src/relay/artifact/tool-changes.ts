/** What a turn did to files by the tools that write them. */
import { resolve } from "node:path";
import type { ToolCall } from "../../model/message.ts";
import { canonicalToolName } from "../../model/tool-aliases.ts";
import type { FileTouch, Replacement } from "./file-changes.ts";

interface Files {
  /** What relative paths are relative to. */
  readonly workspace: string;
  /** What is known to have been in files before the turn, by their absolute paths. */
  readonly originals?: ReadonlyMap<string, string>;
}

/** In the order of the calls. */
export function touchesOfCalls(
  calls: readonly ToolCall[],
  { workspace, originals }: Files,
): readonly FileTouch[] {
  return calls.flatMap((call): FileTouch[] => {
    const tool = canonicalToolName(call.tool);
    if (tool !== "Write" && tool !== "Edit") return [];
    if (call.status !== "ok" && call.status !== "unknown") return [];
    const params = (call.params ?? {}) as Params;
    const given = params.path ?? params.file_path;
    if (typeof given !== "string" || given.trim() === "") return [];
    const path = resolve(workspace, given);
    // The process died in the midst of it.
    if (call.status === "unknown") return [{ path, done: { kind: "unknown", why: "interrupted" } }];
    return [{ path, original: originals?.get(path), done: doneBy(params) }];
  });
}

/** Ours, and those of agents that have the same tools with other names for what they take. */
interface Params {
  readonly path?: unknown;
  readonly file_path?: unknown;
  readonly content?: unknown;
  readonly edits?: unknown;
  readonly old_string?: unknown;
  readonly new_string?: unknown;
}

function doneBy({ content, edits, old_string: oldText, new_string: newText }: Params): FileTouch["done"] {
  if (typeof content === "string") return { kind: "write", content };
  const given: readonly unknown[] = Array.isArray(edits) ? edits : [{ oldText, newText }];
  return given.every(isReplacement)
    ? { kind: "replace", edits: given }
    : { kind: "unknown", why: "no texts" };
}

function isReplacement(value: unknown): value is Replacement {
  if (typeof value !== "object" || value === null) return false;
  const { oldText, newText } = value as Readonly<Record<string, unknown>>;
  return typeof oldText === "string" && typeof newText === "string";
}
