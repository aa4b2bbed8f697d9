import { compareTexts, replacedWhole } from "./file-changes.ts";

/** Without the lines that name the files. Where it would take too long to find what is the same, nothing is. */
export async function unifiedDiff(before: string, after: string): Promise<string> {
  const shown = await compareTexts("text", before, after);
  const patch = shown.kind === "diff" ? shown.diff : replacedWhole("text", before, after);
  const at = patch.search(/^@@/m);
  return at === -1 ? "" : patch.slice(at).trimEnd();
}
