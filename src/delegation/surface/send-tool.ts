/** The tool agents use to write to each other, even while the recipient is working. */
import { z } from "zod";

import { defineTool } from "../../model/define-tool.ts";
import { CortexError } from "../../model/errors.ts";
import type { Tool } from "../../model/tool.ts";
import type { DelegationPorts } from "../accept.ts";
import { readCaller } from "../caller.ts";
import { MAX_TASK_LENGTH } from "../delegate.ts";
import { name, REACHING } from "./dispatch-tool.ts";
import { areRelated, findRecipient, sessionForeign } from "../kin.ts";
import { sendToSession } from "../send.ts";

const parameters = z.strictObject({
  to: name.describe("manager (the assigner of your work), an agent id, or a session"),
  content: z.string().trim().min(1).max(MAX_TASK_LENGTH),
});

export function createSendTool(use: () => DelegationPorts): Tool {
  return defineTool({
    name: "send_message_to_agent",
    description:
      "Sends a message to another agent: a question to the manager, or a note to a running worker. It assigns no " +
      "work and returns no result; any answer arrives as a message.",
    parameters,
    ...REACHING,
    async run({ to, content }, context) {
      const ports = use();
      const { store, settings } = ports;
      const caller = await readCaller(context, store);
      const target = await findRecipient(to, caller.kin, settings.config(), store.sessions);
      if (target.session === context.session) throw recipientIsSelf();
      if (caller.isByPeople && !(await areRelated(target.session, caller.kin, store.sessions)))
        throw sessionForeign(target.session, "Or write to its `manager`, if it has one.");
      await sendToSession(target, content, caller, ports);
      return {
        text: `Message to ${target.session} queued.`,
        details: { session: target.session },
      };
    },
  });
}

function recipientIsSelf(): CortexError {
  return new CortexError("tool_input_invalid", "The recipient is this session itself", {
    hint: "Name another agent or session.",
  });
}
