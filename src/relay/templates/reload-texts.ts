/** What whoever looks after Cortex is told when the files of relays have changed. */
import { basename } from "node:path";

import type { Problem } from "../../config/problem.ts";
import { TEMPLATES_FILE } from "./files.ts";
import type { RefusedFiles } from "./watch.ts";

/** The files by their paths from the home on; none where nobody knows which. */
export function reloadedText(files: readonly string[]): string {
  const prompt = files.find((file) => file.startsWith("prompts"));
  if (prompt !== undefined) return `${prompt} changed — thread-templates reloaded`;
  const [file] = files;
  return `${file === undefined ? TEMPLATES_FILE : shorten(file)} hot-reloaded`;
}

export function refusedText(problems: readonly Problem[], { files, isKept }: RefusedFiles): string {
  const [first] = problems;
  const { source, path, message, hint } = first!;
  const file = files[0] ?? source.replace(/(?::\d+)+$/, "");
  const inUse = isKept ? "is not in use; what was there before is" : "only what is right of it is in use";
  return [
    `${shorten(file)} has ${countOf(problems)} and ${inUse}`,
    `${source}${path === "" ? "" : ` ${path}`}: ${message}. ${hint}`,
    ...(problems.length === 1 ? [] : ["`cortex relay validate` lists them all."]),
  ].join("\n");
}

/** Why a name may be unknown that stands in the files: for the end of a hint. Empty where nothing is wrong with them. */
export function problemsHint({ problems }: { readonly problems: readonly Problem[] }): string {
  if (problems.length === 0) return "";
  return ` The files of relays have ${countOf(problems)}: \`cortex relay validate\` tells.`;
}

function countOf({ length }: readonly Problem[]): string {
  return length === 1 ? "a problem" : `${length} problems`;
}

/** As the original names it: the single file by its name alone. */
function shorten(file: string): string {
  return basename(file) === TEMPLATES_FILE ? TEMPLATES_FILE : file;
}
