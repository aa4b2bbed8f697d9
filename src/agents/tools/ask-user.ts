import { z } from "zod";

import type { Tool } from "../../model/tool.ts";
import { defineTool } from "../../model/define-tool.ts";

export const MAX_QUESTION_LENGTH = 2000;
export const MAX_OPTIONS = 10;
export const MAX_OPTION_LENGTH = 200;

/** It only says that somebody is to be asked: waiting costs nothing but the session. */
const ASK_TIMEOUT_MS = 10_000;

export const askUserTool: Tool = defineTool({
  name: "AskUser",
  description:
    "Asks the user a question and waits for the answer, however long that takes. For what only the user knows or " +
    "may decide; what can be found out is found out.",
  parameters: z.strictObject({
    question: z.string().trim().min(1).max(MAX_QUESTION_LENGTH),
    options: z
      .array(z.string().trim().min(1).max(MAX_OPTION_LENGTH))
      .min(1)
      .max(MAX_OPTIONS)
      .optional()
      .describe("Answers to choose from; the user can give another one"),
  }),
  writes: false,
  repeatable: true,
  timeoutMs: ASK_TIMEOUT_MS,
  trust: {},
  async run({ question, options = [] }) {
    return { kind: "suspend", waitKind: "question", detail: { question, options: [...new Set(options)] } };
  },
});
