/** The tools by which agents start relays, and end the one that they are part of. */
import { z } from "zod";

import { defineTool } from "../../model/define-tool.ts";
import { CortexError } from "../../model/errors.ts";
import { parseSessionKey } from "../../model/session-key.ts";
import type { Tool, ToolContext } from "../../model/tool.ts";
import { present } from "../../model/present.ts";
import type { RelayWish } from "./start-from-tool.ts";
import { ABORT_TOOL } from "../engine/record-ends.ts";

type StartRelay = (wish: RelayWish, context: ToolContext) => Promise<string>;

const MAX_NAME_LENGTH = 64;
const MAX_MESSAGE_LENGTH = 100_000;
const MAX_CONTRACT_LENGTH = 10_000;
export const MAX_REASON_LENGTH = 2_000;
/** It is written down; the relay takes as long as it takes. */
const WRITE_TIMEOUT_MS = 30_000;

const templateName = z.string().trim().min(1).max(MAX_NAME_LENGTH);
const term = z.string().trim().min(1).max(MAX_CONTRACT_LENGTH);

const startParameters = z.strictObject({
  template: templateName.optional().describe("The template of the relay"),
  agent: templateName.optional().describe("Instead of a template: a single agent of relays"),
  message: z
    .string()
    .trim()
    .min(1)
    .max(MAX_MESSAGE_LENGTH)
    .describe("All that its agents need to know: they know nothing of this conversation"),
  goal: term.optional().describe("What is to be reached"),
  doneWhen: term.optional().describe("How one sees that it is reached"),
  budgetUsd: z.number().positive().optional().describe("What all of it may cost at most, in USD"),
  wait: z.boolean().optional().describe("Wait for the result. Otherwise it comes as a message later"),
});

const abortParameters = z.strictObject({
  reason: z.string().trim().min(1).max(MAX_REASON_LENGTH).describe("Why nobody can go on, for people"),
});

export function createRelayTools(startRelay: StartRelay): Tool[] {
  return [createStartTool(startRelay), createAbortTool()];
}

function createStartTool(startRelay: StartRelay): Tool {
  return defineTool({
    name: "relay_start",
    description:
      "Starts a relay: several agents, one after the other, work on one shared file, the artifact, as a template says. With " +
      "wait, the artifact is the result of this call. Without, it comes to you as one message when the relay is over.",
    parameters: startParameters,
    writes: true,
    // The relay is known by the call: the same call again finds what it did.
    repeatable: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    trust: {},
    // Which templates and agents there are.
    errorTrust: { private: true },
    async run({ template, agent, message, goal, doneWhen, budgetUsd, wait = false }, context) {
      const name = template ?? agent;
      if (name === undefined || (template !== undefined && agent !== undefined)) throw oneOfTwo();
      const relay = await startRelay(
        {
          name,
          kind: template === undefined ? "agent" : "template",
          message: withContract(message, { goal, doneWhen }),
          contract: present({ goal, doneWhen, budgetUsd }),
          waits: wait,
          ...present({ budgetUsd }),
        },
        context,
      );
      if (wait) return { kind: "suspend", waitKind: "child", detail: { relay } };
      return {
        text: `The relay ${relay} has begun. Its result comes to you as a message; go on with something else, or end your turn.`,
        details: { relay },
      };
    },
  });
}

/** The engine finds the call in the turn of the step, when that has ended. */
function createAbortTool(): Tool {
  return defineTool({
    name: ABORT_TOOL,
    description:
      "Ends the relay that you are a part of, because neither you nor anybody after you can go on. Nothing follows your step.",
    parameters: abortParameters,
    writes: true,
    repeatable: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    trust: {},
    async run({ reason }, { session }) {
      const key = parseSessionKey(session);
      if (key.kind !== "relay") throw notInRelay();
      return {
        text: "The relay ends with this step. Say in one sentence why, and end your turn.",
        details: { relay: key.relay, abort: reason },
      };
    },
  });
}

/** What was agreed on stands below the message, where every agent of the relay reads it. */
function withContract(
  message: string,
  { goal, doneWhen }: { readonly goal: string | undefined; readonly doneWhen: string | undefined },
): string {
  const terms = [
    ...(goal === undefined ? [] : [`Goal: ${goal}`]),
    ...(doneWhen === undefined ? [] : [`Done when: ${doneWhen}`]),
  ];
  return [message, ...terms].join("\n\n");
}

function oneOfTwo(): CortexError {
  return new CortexError("tool_input_invalid", "A relay is started from a template or from a single agent", {
    hint: "Give one of `template` and `agent`.",
  });
}

function notInRelay(): CortexError {
  return new CortexError("tool_input_invalid", "This is no step of a relay, and there is nothing to abort", {
    hint: "Say what is wrong in your answer instead.",
  });
}
