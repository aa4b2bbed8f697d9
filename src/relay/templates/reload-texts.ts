/** Texts for the owner about changed relay files. */
import { basename } from "node:path";

import type { Problem } from "../../config/problem.ts";
import { TEMPLATES_FILE } from "./files.ts";
import type { RefusedFiles } from "./watch.ts";

/** The files are relative to the home. Empty: the changed files are not known. */
export function reloadedText(files: readonly string[]): string {
  const prompt = files.find((file) => file.startsWith("prompts"));
  if (prompt !== undefined) return `${prompt} changed — thread-templates reloaded`;
  const [file] = files;
  return `${file === undefined ? TEMPLATES_FILE : shorten(file)} hot-reloaded`;
}

export function refusedText(problems: readonly Problem[], { files, isKept }: RefusedFiles): string {
  const { source, path, message, hint } = problems[0]!;
  const file = files[0] ?? source.replace(/(?::\d+)+$/, "");
  const inUse = isKept ? "the previous version stays in use" : "only its valid entries are in use";
  return [
    `${shorten(file)} has ${countOf(problems)}; ${inUse}`,
    `${source}${path === "" ? "" : ` ${path}`}: ${message}. ${hint}`,
    ...(problems.length === 1 ? [] : ["`cortex relay validate` lists them all."]),
  ].join("\n");
}

/** For the end of a hint: why a name in the files may be unknown. Empty if they are valid. */
export function problemsHint({ problems }: { readonly problems: readonly Problem[] }): string {
  if (problems.length === 0) return "";
  return ` The relay files have ${countOf(problems)}; run \`cortex relay validate\`.`;
}

function countOf({ length }: readonly Problem[]): string {
  return length === 1 ? "a problem" : `${length} problems`;
}

/** The single file goes by its name alone. */
function shorten(file: string): string {
  return basename(file) === TEMPLATES_FILE ? TEMPLATES_FILE : file;
}
