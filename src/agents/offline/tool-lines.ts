/** Reads `/tool Name {json}` lines: the one way to have the offline model do something without a script. */
import { canonicalJson, type Json, MAX_JSON_DEPTH } from "../../model/json.ts";
import { MAX_ARGUMENTS_DEPTH, MAX_CALLS, type WantedCall } from "./draft.ts";
import { shorten } from "./shorten.ts";

interface ToolLines {
  readonly calls: readonly WantedCall[];
  /** What is wrong with which line, for the person who wrote it. Where there is one, nothing is to be run. */
  readonly problems: readonly string[];
}

const TOOL_LINE = /^\s*\/tool(?:\s+(.*))?$/s;
const REQUEST = /^([\w.-]{1,128})(?:\s*(\{.*)|\s+(.*))?$/s;
const MAX_QUOTED_LENGTH = 120;

export function readToolLines(text: string): ToolLines {
  const calls: WantedCall[] = [];
  const problems: string[] = [];
  const lines = text.split(/\r?\n/).filter((line) => TOOL_LINE.test(line));
  if (lines.length > MAX_CALLS) {
    const asked = `There are ${lines.length} \`/tool\` lines, and ${MAX_CALLS} are allowed.`;
    return { calls: [], problems: [asked] };
  }
  for (const line of lines) {
    const read = readRequest((TOOL_LINE.exec(line)![1] ?? "").trim());
    if (typeof read === "string") problems.push(`\`${flat(line)}\`: ${read}`);
    else calls.push(read);
  }
  return { calls, problems };
}

function readRequest(request: string): WantedCall | string {
  const parts = REQUEST.exec(request);
  if (parts === null) return "the name of a tool must follow, then its arguments as JSON.";
  const json = (parts[2] ?? parts[3] ?? "").trim();
  const tool = parts[1]!;
  if (json === "") return { tool, args: {} };
  try {
    const args = JSON.parse(json) as Json;
    if (args === null || typeof args !== "object" || Array.isArray(args)) {
      return 'the arguments must be a JSON object, such as `{"path": "notes.md"}`.';
    }
    canonicalJson(args, MAX_JSON_DEPTH - MAX_ARGUMENTS_DEPTH);
    return { tool, args };
  } catch (error) {
    if (!(error instanceof SyntaxError))
      return `the arguments are nested more than ${MAX_ARGUMENTS_DEPTH} deep.`;
    return `the arguments are not valid JSON on one line (${flat(error.message)}).`;
  }
}

/** On one line, between backticks. */
function flat(text: string): string {
  return shorten(text.trim().replaceAll(/[\s`]+/g, " "), MAX_QUOTED_LENGTH);
}
