import { basename } from "node:path";
import { fileURLToPath } from "node:url";

export const MAX_FAILURE_LENGTH = 1_000;

/** Describes an error of a hook in one line, with the location in its file if known. */
export function describeFailure(error: unknown, folder: string): string {
  const all = error instanceof Error ? `${error.name}: ${error.message}` : `It threw ${show(error)}`;
  const said = all.slice(0, 4 * MAX_FAILURE_LENGTH); // long before the next step would have much to do
  const place = error instanceof Error ? placeIn(stackOf(error, all), folder) : undefined;
  const line = said.replaceAll(/\s*\n\s*/g, " ").trim();
  const text = place === undefined || line.includes(place) ? line : `${line} (${place})`;
  return text.length <= MAX_FAILURE_LENGTH
    ? text
    : `${text.slice(0, MAX_FAILURE_LENGTH - 1).toWellFormed()}…`;
}

/** Without what was said, which it begins with. */
function stackOf({ stack = "" }: Error, said: string): string {
  return (stack.startsWith(said) ? stack.slice(said.length) : stack).slice(0, MAX_STACK_LENGTH);
}

const MAX_STACK_LENGTH = 8 * 1024;

/** The first place of the stack that is in the folder: `name.ts:12:5`. */
function placeIn(stack: string, folder: string): string | undefined {
  for (const [, file = "", at] of stack.matchAll(/((?:file:\/\/)?\/[^\s()]+?)(:\d+(?::\d+)?)(?=[)\s]|$)/g)) {
    const path = toPath(file);
    if (path.startsWith(`${folder}/`)) return `${basename(path)}${at}`;
  }
  return undefined;
}

function toPath(text: string): string {
  try {
    return text.startsWith("file:") ? fileURLToPath(text).replace(/\?.*$/, "") : text;
  } catch {
    return text;
  }
}

function show(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
