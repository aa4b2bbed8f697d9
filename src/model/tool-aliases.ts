/** Names by which tools are known elsewhere. Configurations and models that use them are understood. */
import type { Json } from "./json.ts";

interface ToolAlias {
  readonly name: string;
  /** Parameters that the other name stands for, where the call does not give them. */
  readonly defaults?: Readonly<Record<string, Json>>;
}

const TREE_DEPTH = 3;

export const TOOL_ALIASES: Readonly<Record<string, ToolAlias>> = {
  file_read: { name: "Read" },
  file_write: { name: "Write" },
  file_edit: { name: "Edit" },
  file_search: { name: "Grep" },
  file_list: { name: "List" },
  file_tree: { name: "List", defaults: { depth: TREE_DEPTH } },
  file_info: { name: "Stat" },
  shell: { name: "Bash" },
  code_exec: { name: "CodeExec" },
  web_search: { name: "WebSearch" },
  Agent: { name: "sub_agent" },
  AskUserQuestion: { name: "AskUser" },
};

export function canonicalToolName(name: string): string {
  return aliasOf(name)?.name ?? name;
}

/** The parameters of a call by this name, as its tool takes them. */
export function canonicalToolParams(name: string, params: Json): Json {
  const defaults = aliasOf(name)?.defaults;
  return defaults === undefined || !isObject(params) ? params : { ...defaults, ...params };
}

function aliasOf(name: string): ToolAlias | undefined {
  return Object.hasOwn(TOOL_ALIASES, name) ? TOOL_ALIASES[name] : undefined;
}

function isObject(params: Json): params is Readonly<Record<string, Json>> {
  return typeof params === "object" && params !== null && !Array.isArray(params);
}
