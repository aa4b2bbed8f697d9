import { z } from "zod";

import type { Tool } from "../../model/tool.ts";
import { defineTool } from "../../model/define-tool.ts";

export const MAX_QUESTION_LENGTH = 2000;
export const MAX_OPTIONS = 10;
export const MAX_OPTION_LENGTH = 200;

/** The call only records the question: waiting for the answer occupies nothing but the session. */
const ASK_TIMEOUT_MS = 10_000;

export const askUserTool: Tool = defineTool({
  name: "AskUser",
  description:
    "Asks the user a question and waits for the answer, however long it takes. Use it only for facts that only the " +
    "user knows and decisions that only the user may make; find out everything else yourself.",
  parameters: z.strictObject({
    question: z.string().trim().min(1).max(MAX_QUESTION_LENGTH),
    options: z
      .array(z.string().trim().min(1).max(MAX_OPTION_LENGTH))
      .min(1)
      .max(MAX_OPTIONS)
      .optional()
      .describe("Suggested answers; the user can give a different one"),
  }),
  writes: false,
  repeatable: true,
  timeoutMs: ASK_TIMEOUT_MS,
  trust: {},
  tells: true,
  async run({ question, options = [] }) {
    return { kind: "suspend", waitKind: "question", detail: { question, options: [...new Set(options)] } };
  },
});
