/**
 * How files changed, computed from a sequence of edits.
 *
 * The edits are replayed on the first known content of each file, so changes that others made in between are left out.
 * If an edit no longer applies, the edits are shown as they are.
 */
import type { StructuredPatchHunk } from "diff";

import { compareTexts, prefixed, type TextDifference } from "../../model/compare-texts.ts";

/** An edit of a file by an agent. */
export interface FileTouch {
  readonly path: string;
  /** Undefined: this machine. */
  readonly device?: string | undefined;
  /** The content before. Null: the file did not exist. Undefined: unknown. */
  readonly original?: string | null | undefined;
  readonly done:
    | { readonly kind: "write"; readonly content: string }
    | { readonly kind: "patch"; readonly hunks: readonly Hunk[] }
    | { readonly kind: "replace"; readonly edits: readonly Replacement[] }
    /** An edit without details; the reason follows "diff unavailable:". */
    | { readonly kind: "unknown"; readonly why: string };
}

export type Hunk = Readonly<StructuredPatchHunk>;

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
}

export interface FileChange {
  readonly path: string;
  readonly device?: string | undefined;
  readonly shown:
    | TextDifference
    /** Individual edits that do not apply to the known content. */
    | { readonly kind: "hunks"; readonly hunks: string };
}

/** How many lines are compared to locate a patch before it counts as not applicable. */
const MAX_COMPARED_LINES = 100_000;

/** One change per file, in the order in which the files were first touched. */
export async function replayTouches(touches: readonly FileTouch[]): Promise<readonly FileChange[]> {
  const files = Map.groupBy(touches, ({ device, path }) => JSON.stringify([device ?? null, path]));
  return Promise.all(Array.from(files.values(), replayFile));
}

/**
 * Combines changes known from edits with changes observed on disk. For a file in both, the observed change wins because
 * it is complete. For a file observed more than once, the last observation wins.
 */
export function mergeChanges(
  edited: readonly FileChange[],
  observed: readonly FileChange[],
): readonly FileChange[] {
  const last = new Map(observed.map((change) => [change.path, change]));
  const merged = new Map<string, FileChange>();
  for (const [place, change] of edited.entries()) {
    const better = change.device === undefined ? last.get(change.path) : undefined;
    if (better === undefined) merged.set(`${place}`, change);
    else if (better.shown.kind !== "unavailable") merged.set(change.path, better);
    else merged.set(change.path, change);
  }
  for (const change of last.values()) {
    if (!merged.has(change.path)) merged.set(change.path, change);
  }
  return [...merged.values()];
}

async function replayFile(touches: readonly FileTouch[]): Promise<FileChange> {
  const { path, device, original, done } = touches[0]!; // later originals include changes by others
  const unknown = touches.map((touch) => touch.done).find(({ kind }) => kind === "unknown");
  if (unknown?.kind === "unknown") return { path, device, shown: { kind: "unavailable", why: unknown.why } };
  const before = original ?? "";
  const isKnown = original !== undefined || done.kind === "write";
  const after = isKnown ? await replay(before, touches) : undefined;
  if (after === undefined) return { path, device, shown: { kind: "hunks", hunks: hunksOf(touches) } };
  return { path, device, shown: await compareTexts(path, before, after) };
}

/** Undefined: an edit does not apply. */
async function replay(before: string, touches: readonly FileTouch[]): Promise<string | undefined> {
  const { applyPatch } = await import("diff");
  let text: string | undefined = before;
  let compared = 0;
  const compareLine = (_: number, line: string, __: string, wanted: string): boolean => {
    if (++compared > MAX_COMPARED_LINES) throw new PlaceNotFound();
    return line === wanted;
  };
  for (const { done } of touches) {
    if (text === undefined) return undefined;
    switch (done.kind) {
      case "write":
        text = done.content;
        break;
      case "patch": {
        const patch = patchOf(done.hunks);
        const known: string = text;
        const tryPatch = (fuzzFactor: number): string | undefined =>
          orUndefined(applyPatch(known, patch, { compareLine, fuzzFactor }));
        try {
          text = tryPatch(0) ?? tryPatch(2);
        } catch (error) {
          if (!(error instanceof PlaceNotFound)) throw error;
          return undefined;
        }
        break;
      }
      case "replace":
        text = done.edits.reduce(replaceOnce, text);
        break;
      case "unknown":
        return undefined;
    }
  }
  return text;
}

class PlaceNotFound extends Error {}

function patchOf(hunks: readonly Hunk[]) {
  const names = { oldFileName: "", newFileName: "", oldHeader: undefined, newHeader: undefined };
  return { ...names, hunks: hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines] })) };
}

function orUndefined(patched: string | false): string | undefined {
  return patched === false ? undefined : patched;
}

function replaceOnce(text: string | undefined, { oldText, newText }: Replacement): string | undefined {
  const at = text?.indexOf(oldText) ?? -1;
  if (text === undefined || at === -1 || oldText === "") return undefined;
  return text.slice(0, at) + newText + text.slice(at + oldText.length);
}

function hunksOf(touches: readonly FileTouch[]): string {
  return touches.flatMap(({ done }) => linesOf(done)).join("\n");
}

function linesOf(done: FileTouch["done"]): readonly string[] {
  switch (done.kind) {
    case "write":
      return ["@@ the whole file @@", ...prefixed("+", done.content)];
    case "patch":
      return done.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
        `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
        ...lines,
      ]);
    case "replace":
      return done.edits.flatMap(({ oldText, newText }) => [
        "@@ somewhere @@",
        ...prefixed("-", oldText),
        ...prefixed("+", newText),
      ]);
    case "unknown":
      return [];
  }
}
