/** The tool by which agents write to each other, also while the other one works. */
import { z } from "zod";

import { defineTool } from "../../model/define-tool.ts";
import { CortexError } from "../../model/errors.ts";
import type { Tool } from "../../model/tool.ts";
import { readCaller } from "../caller.ts";
import { MAX_TASK_LENGTH } from "../delegate.ts";
import { name, REACHING } from "./dispatch-tool.ts";
import { findRecipient } from "../kin.ts";
import type { DelegationParts } from "../parts.ts";
import { sendToSession } from "../send.ts";

const parameters = z.strictObject({
  to: name.describe("manager (whoever gave you the work), an agent's id, or a session"),
  content: z.string().trim().min(1).max(MAX_TASK_LENGTH),
});

export function createSendTool(use: () => DelegationParts): Tool {
  return defineTool({
    name: "send_message_to_agent",
    description:
      "Sends a message to another agent: a question to the manager, or a word to a worker while it works. It is no order to do " +
      "work and brings no result; an answer, if there is one, comes as a message.",
    parameters,
    ...REACHING,
    async run({ to, content }, context) {
      const parts = use();
      const caller = await readCaller(context, parts);
      const target = await findRecipient(to, caller.kin, parts.config(), parts.store.sessions);
      if (target.session === context.session) throw toItself();
      await sendToSession(target, content, caller, parts);
      return {
        text: `The message to ${target.session} is on its way.`,
        details: { session: target.session },
      };
    },
  });
}

function toItself(): CortexError {
  return new CortexError("tool_input_invalid", "That is this very session", {
    hint: "Write to another one, or simply go on.",
  });
}
