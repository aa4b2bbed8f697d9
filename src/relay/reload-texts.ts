/** What whoever looks after Cortex is told when the files of relays have changed. */
import { basename } from "node:path";

import type { Problem } from "../config/problem.ts";
import { TEMPLATES_FILE } from "./template-files.ts";

/** The files by their paths from the home on; none where nobody knows which. */
export function reloadedText(files: readonly string[]): string {
  const prompt = files.find((file) => file.startsWith("prompts"));
  if (prompt !== undefined) return `${prompt} changed — thread-templates reloaded`;
  const [file] = files;
  return `${file === undefined ? TEMPLATES_FILE : shorten(file)} hot-reloaded`;
}

export function refusedText(problems: readonly Problem[], files: readonly string[]): string {
  const [first] = problems;
  const { source, path, message, hint } = first!;
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  const [file] = files;
  return [
    `${file === undefined ? TEMPLATES_FILE : shorten(file)} has ${count} and is not in use; what was there before is`,
    `${source}${path === "" ? "" : ` ${path}`}: ${message}. ${hint}`,
    ...(problems.length === 1 ? [] : ["`cortex relay validate` lists them all."]),
  ].join("\n");
}

/** As the original names it: the single file by its name alone. */
function shorten(file: string): string {
  return basename(file) === TEMPLATES_FILE ? TEMPLATES_FILE : file;
}
