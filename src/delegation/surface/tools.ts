/** The tools agents use to work with each other. */
import type { Config } from "../../config/config.ts";
import type { Tool } from "../../model/tool.ts";
import { createDispatchTool } from "./dispatch-tool.ts";
import type { DelegationPorts } from "../accept.ts";
import { createReplyTool } from "./reply-tool.ts";
import { createSendTool } from "./send-tool.ts";
import { createSubAgentTool } from "./sub-agent-tool.ts";

/** The ports are used only by calls, so that the tools can be described without them. */
export function createDelegationTools(use: () => DelegationPorts, config: () => Config): Tool[] {
  return [
    createSubAgentTool(use, config),
    createDispatchTool(use),
    createReplyTool(use),
    createSendTool(use),
  ];
}
