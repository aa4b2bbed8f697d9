/** Reads `/tool Name {json}` lines, the only way to make the offline model act without a script. */
import { canonicalJson, isJsonObject, type Json, MAX_JSON_DEPTH } from "../../model/json.ts";
import { truncate } from "../../model/truncate.ts";
import { MAX_ARGUMENTS_DEPTH } from "../agent.ts";

/** A call of a script or a `/tool` line, before it has an id. */
export interface WantedCall {
  readonly tool: string;
  readonly args: Json;
}

export const MAX_CALLS = 32;

interface ToolLines {
  readonly calls: readonly WantedCall[];
  /** The problem of each invalid line, for its author. If there is any, no tool is run. */
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
    return { calls: [], problems: [`Too many \`/tool\` lines: ${lines.length} (limit ${MAX_CALLS}).`] };
  }
  for (const line of lines) {
    const read = readRequest(line.replace(TOOL_LINE, "$1").trim());
    if (typeof read === "string") problems.push(`\`${flat(line)}\`: ${read}`);
    else calls.push(read);
  }
  return { calls, problems };
}

function readRequest(request: string): WantedCall | string {
  const [, tool, object, other = ""] = REQUEST.exec(request) ?? [];
  if (tool === undefined) return "expected the name of a tool, then its arguments as JSON.";
  const json = (object ?? other).trim();
  if (json === "") return { tool, args: {} };
  try {
    const args: Json = JSON.parse(json);
    if (!isJsonObject(args)) {
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
  return truncate(text.trim().replaceAll(/[\s`]+/g, " "), MAX_QUOTED_LENGTH);
}
