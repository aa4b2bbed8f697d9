/** What differs between two texts, as a unified diff, in bounded time. */
import type { StructuredPatch } from "diff";

/** Longer texts are not compared. */
export const MAX_DIFFED_CHARACTERS = 512 * 1024;
/** How many lines may differ: the time grows with the square of their number. */
export const MAX_DIFFERENT_LINES = 500;
/** Longer texts are compared in slices, yielding to other work in between. */
const COMPARED_AT_ONCE = 32 * 1024;

export type TextDifference =
  /** A unified diff. Empty: the text is unchanged. */
  { readonly kind: "diff"; readonly diff: string } | { readonly kind: "unavailable"; readonly why: string };

/** The difference between two contents of a file. */
export async function compareTexts(path: string, before: string, after: string): Promise<TextDifference> {
  if (before === after) return { kind: "diff", diff: "" };
  if (before.includes("\0") || after.includes("\0")) return { kind: "unavailable", why: "binary" };
  if (before.length + after.length > MAX_DIFFED_CHARACTERS) return { kind: "unavailable", why: "too large" };
  if (before === "" || after === "") return { kind: "diff", diff: replacedWhole(path, before, after) };
  const { FILE_HEADERS_ONLY, formatPatch, structuredPatch } = await import("diff");
  const patch = await new Promise<StructuredPatch | undefined>((resolve) => {
    const options = { maxEditLength: MAX_DIFFERENT_LINES };
    if (before.length + after.length <= COMPARED_AT_ONCE)
      resolve(structuredPatch(path, path, before, after, undefined, undefined, options));
    else structuredPatch(path, path, before, after, undefined, undefined, { ...options, callback: resolve });
  });
  if (patch === undefined) return { kind: "unavailable", why: "too different" };
  return { kind: "diff", diff: formatPatch(patch, FILE_HEADERS_ONLY) };
}

/** A diff that removes the whole old text and adds the whole new one. */
function replacedWhole(path: string, before: string, after: string): string {
  const [old, fresh] = [sided("-", before), sided("+", after)];
  const ranges = `-${old.range} +${fresh.range}`;
  return [`--- ${path}`, `+++ ${path}`, `@@ ${ranges} @@`, ...old.lines, ...fresh.lines, ""].join("\n");
}

function sided(sign: "+" | "-", text: string): { readonly range: string; readonly lines: readonly string[] } {
  if (text === "") return { range: "0,0", lines: [] };
  const lines = prefixed(sign, text);
  const end = text.endsWith("\n") ? [] : [String.raw`\ No newline at end of file`];
  return { range: `1,${lines.length}`, lines: [...lines, ...end] };
}

export function prefixed(sign: string, text: string): readonly string[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => sign + line);
}

/** A diff without file headers. Texts that take too long to compare are shown as replaced completely. */
export async function unifiedDiff(before: string, after: string): Promise<string> {
  const shown = await compareTexts("text", before, after);
  const patch = shown.kind === "diff" ? shown.diff : replacedWhole("text", before, after);
  const at = patch.search(/^@@/m);
  return at === -1 ? "" : patch.slice(at).trimEnd();
}
