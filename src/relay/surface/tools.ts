/** The tools with which agents start relays, and abort the one they are part of. */
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
/** For storing the request, not for running the relay. */
const WRITE_TIMEOUT_MS = 30_000;

const templateName = z.string().trim().min(1).max(MAX_NAME_LENGTH);
const term = z.string().trim().min(1).max(MAX_CONTRACT_LENGTH);

const startParameters = z.strictObject({
  template: templateName.optional().describe("The template of the relay"),
  agent: templateName.optional().describe("A single relay agent, instead of a template"),
  message: z
    .string()
    .trim()
    .min(1)
    .max(MAX_MESSAGE_LENGTH)
    .describe("Everything its agents need to know: they cannot see this conversation"),
  goal: term.optional().describe("The goal of the work"),
  doneWhen: term.optional().describe("How to tell that the goal is reached"),
  budgetUsd: z.number().positive().optional().describe("Cost limit in USD for the whole relay"),
  wait: z.boolean().optional().describe("Wait for the result. Otherwise it arrives later as a message"),
});

const abortParameters = z.strictObject({
  reason: z.string().trim().min(1).max(MAX_REASON_LENGTH).describe("Why no agent can continue, for people"),
});

export function createRelayTools(startRelay: StartRelay): Tool[] {
  return [createStartTool(startRelay), createAbortTool()];
}

function createStartTool(startRelay: StartRelay): Tool {
  return defineTool({
    name: "relay_start",
    description:
      "Starts a relay: several agents work in turn on a shared file, the artifact, as defined by a template. With wait, " +
      "the artifact is the result of this call. Without it, you get the artifact in a message when the relay has ended.",
    parameters: startParameters,
    writes: true,
    // The call is the idempotency key: repeating it returns the same relay.
    repeatable: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    trust: {},
    // Errors list the names of templates and agents.
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
        text: `Relay ${relay} has started. Its result will arrive as a message; continue with other work, or end your turn.`,
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
      "Aborts the relay you are part of, because neither you nor any later agent can continue. No step follows yours.",
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

/** Appends the terms to the message, where every agent of the relay reads them. */
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
  return new CortexError("tool_input_invalid", "Expected exactly one of template and agent", {
    hint: "Pass either `template` or `agent`.",
  });
}

function notInRelay(): CortexError {
  return new CortexError("tool_input_invalid", "Not a relay step, so nothing to abort", {
    hint: "Describe the problem in your answer instead.",
  });
}
