/**
 * The tools agents use to write and manage hooks. A hook acts on its own, long after the turn in which it was written, so
 * what an agent writes does nothing until a person has enabled it. Hooks belong to the owner: in a session with text by
 * anyone else, every change to them needs a person's approval.
 */
import { createHash } from "node:crypto";

import { z } from "zod";

import { count } from "../../model/count.ts";
import { defineTool } from "../../model/define-tool.ts";
import { CortexError } from "../../model/errors.ts";
import type { Tool, ToolContext } from "../../model/tool.ts";
import type { Actor, StoredHook } from "../../store/store.ts";
import { parseHookName } from "../hook-name.ts";
import type { Hooks } from "../open-hooks.ts";
import { writeHeader } from "../folder/template.ts";

export const MAX_HOOK_SOURCE_LENGTH = 64 * 1024;
/** Unreviewed files must not pile up. */
export const MAX_HOOKS_OF_AGENTS = 100;
const MAX_DESCRIPTION_LENGTH = 300;
const TIMEOUT_MS = 30_000;

/** The tag of a file that an agent wrote. */
const WRITTEN_BY_AGENT = "@origin agent";

const name = z.string().min(1).max(64);
const NOT_THE_OWNERS = "hooks belong to the owner, and this conversation contains text from others";

type HookActions = Pick<Hooks, "list" | "add" | "setEnabled" | "source">;

/** The hooks are looked up when a tool is called: the tools can be described without. */
export function createHookTools(use: () => HookActions): Tool[] {
  return [createTool(use), listTool(use), enableTool(use), disableTool(use)];
}

function createTool(use: () => HookActions): Tool {
  return defineTool({
    name: "create_hook",
    description:
      "Writes a hook: a TypeScript program that judges every event (message, webhook, timer, file) and may " +
      "send it to a session. It starts disabled until a person reviews and enables it. Its code exports a default async " +
      'function (ctx) that returns {fire: false} or {fire: true, routing: {session: "main"}, context: {prompt}}, and ' +
      'an optional filter such as {channels: ["email"], senders: [], match: "(?i)invoice"} or {channels: ["timer"], ' +
      'cron: "0 9 * * 1"}. ctx has event, query(sql, params), search(text), llm(prompt, {json}), now.',
    parameters: z.strictObject({
      name: name.describe("Lower-case letters, digits, - and _"),
      description: z
        .string()
        .min(1)
        .max(MAX_DESCRIPTION_LENGTH)
        .describe("What it does, for the person who enables it"),
      mode: z
        .enum(["persistent", "one-shot"])
        .optional()
        .describe("one-shot: fires once (default: persistent)"),
      code: z.string().min(1).max(MAX_HOOK_SOURCE_LENGTH).describe("TypeScript, without a header comment"),
    }),
    writes: true,
    repeatable: false,
    timeoutMs: TIMEOUT_MS,
    asksForOthers: NOT_THE_OWNERS,
    trust: {},
    // Errors name hooks.
    errorTrust: { private: true },
    async run({ name, description, mode = "persistent", code }) {
      const hooks = use();
      const title = parseHookName(name);
      const header = writeHeader({ title, description, mode, tags: [WRITTEN_BY_AGENT] });
      if ((await hooks.list()).filter(isOfAgent).length >= MAX_HOOKS_OF_AGENTS) throw tooMany();
      const { state } = await hooks.add(name, `${header}${code.trim()}\n`);
      return {
        text:
          `Wrote hook ${name}; it is ${state}. A person must enable it: \`cortex hooks show ${name}\`, then ` +
          `\`cortex hooks enable ${name}\`; or call enable_hook, which requests approval.`,
      };
    },
  });
}

function listTool(use: () => HookActions): Tool {
  return defineTool({
    name: "list_hooks",
    description: "Lists hooks with their purpose, state, trigger count and last error.",
    parameters: z.strictObject({}),
    writes: false,
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    // Errors of hooks may quote what strangers wrote.
    trust: { untrusted: true, private: true },
    async run() {
      return { text: (await use().list()).map(describe).join("\n") || "No hooks." };
    },
  });
}

function enableTool(use: () => HookActions): Tool {
  return defineTool({
    name: "enable_hook",
    description: "Enables a hook, with a person's approval.",
    parameters: z.strictObject({ name }),
    writes: true,
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    // The error of a hook that cannot be loaded quotes its code.
    trust: { untrusted: true, private: true },
    asks: "an enabled hook acts on its own",
    async proposal({ name }) {
      const hook = await use().source(name);
      if (hook === undefined) return undefined;
      const { path, text } = hook;
      return { files: [{ path, sha256: createHash("sha256").update(text).digest("hex") }], diff: text };
    },
    async run({ name }, context) {
      const { state, error } = await use().setEnabled(name, true, actorOf(context));
      return { text: `Hook ${name} is ${state}${error === undefined ? "" : `: ${error}`}.` };
    },
  });
}

function disableTool(use: () => HookActions): Tool {
  return defineTool({
    name: "disable_hook",
    description:
      "Disables a hook until it is enabled again. In a conversation with others, this needs a person's approval.",
    parameters: z.strictObject({ name }),
    writes: true,
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    // Disabling a hook can cause messages to be ignored.
    trust: { outward: true },
    asksForOthers: NOT_THE_OWNERS,
    errorTrust: { private: true },
    async run({ name }, context) {
      const { state } = await use().setEnabled(name, false, actorOf(context));
      return { text: `Hook ${name} is ${state}.` };
    },
  });
}

function actorOf({ agent }: Pick<ToolContext, "agent">): Actor {
  return { principal: `agent:${agent}` };
}

function isOfAgent({ origin, present }: StoredHook): boolean {
  return origin === "agent" && present;
}

function tooMany(): CortexError {
  return new CortexError("limit_invalid", `Agents may write at most ${MAX_HOOKS_OF_AGENTS} hooks`, {
    hint: "Ask the owner to delete some of them in hooks/.",
  });
}

function describe({ name, state, mode, origin, description, triggers, error }: StoredHook): string {
  const by = origin === "agent" ? ", written by an agent" : "";
  const failed = error === undefined ? "" : ` Last error: ${error.slice(0, MAX_DESCRIPTION_LENGTH)}`;
  return `- ${name} (${state}, ${mode}${by}, fired ${count(triggers, "time")}): ${description}${failed}`;
}
