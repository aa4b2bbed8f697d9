/** The tools for an agent's workspace. */
import type { Tool } from "../../model/tool.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { listTool } from "./list.ts";
import { readTool } from "./read.ts";
import { statTool } from "./stat.ts";
import { writeTool } from "./write.ts";

export const workspaceTools: readonly Tool[] = [
  readTool,
  writeTool,
  editTool,
  grepTool,
  globTool,
  listTool,
  statTool,
  bashTool,
];
