import { COORDINATOR_TOOLS, FLAG_TOOL } from "../team/tool-names.ts";

/**
 * The tools that an agent of Cortex can have, beside those of MCP servers. What a configuration says of others is
 * likely to be a slip.
 */
export const TOOL_NAMES: readonly string[] = [
  "Read",
  "Write",
  "Edit",
  "Grep",
  "Glob",
  "List",
  "Stat",
  "Bash",
  "CodeExec",
  "WebFetch",
  "WebSearch",
  "Skill",
  "AskUser",
  "memory_search",
  "message",
  "sub_agent",
  "dispatch_to_agent",
  "reply_to_caller",
  "send_message_to_agent",
  "relay_start",
  "relay_abort",
  "create_hook",
  "list_hooks",
  "enable_hook",
  "disable_hook",
  ...COORDINATOR_TOOLS,
  FLAG_TOOL,
];
