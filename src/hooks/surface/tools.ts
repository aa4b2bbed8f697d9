/**
 * The tools by which agents write hooks and look after them. A hook decides for itself, long after the turn in which
 * it was written: so what an agent writes does nothing until a person has enabled it. Hooks belong to the owner: in a
 * session that holds words of anybody else, every change to them needs a person's yes.
 */
import { z } from "zod";

import { count } from "../../model/count.ts";
import { defineTool } from "../../model/define-tool.ts";
import { CortexError } from "../../model/errors.ts";
import type { Tool } from "../../model/tool.ts";
import type { StoredHook } from "../../store/store.ts";
import { parseHookName } from "../hook-name.ts";
import { writeHeader } from "../folder/template.ts";

export const MAX_HOOK_SOURCE_LENGTH = 64 * 1024;
/** How many hooks of agents there may be: files that nobody looks at must not become many. */
export const MAX_HOOKS_OF_AGENTS = 100;
const MAX_DESCRIPTION_LENGTH = 300;
const TIMEOUT_MS = 30_000;

/** The tag by which a file says that an agent wrote it. */
const WRITTEN_BY_AGENT = "@origin agent";

export interface HookToolParts {
  readonly list: () => Promise<readonly StoredHook[]>;
  /** Adds a file. Throws `state_conflict` where it is there already, and `hook_failed` where it cannot be loaded. */
  readonly add: (name: string, source: string) => Promise<StoredHook>;
  readonly setEnabled: (name: string, enabled: boolean) => Promise<StoredHook>;
}

const name = z.string().min(1).max(64);
const NOT_THE_OWNERS = "hooks are the owner's, and this conversation holds text by others";

export function createHookTools({ list, add, setEnabled }: HookToolParts): Tool[] {
  return [
    defineTool({
      name: "create_hook",
      description:
        "Writes a hook: a TypeScript program that is asked about every event (message, webhook, timer, file) and may " +
        "send it to a session. It starts disabled; a person reads and enables it. Its code exports a default async " +
        'function (ctx) that returns {fire: false} or {fire: true, routing: {session: "main"}, context: {prompt}}, and ' +
        'an optional filter such as {channels: ["email"], senders: [], match: "(?i)invoice"} or {channels: ["timer"], ' +
        'cron: "0 9 * * 1"}. ctx has event, query(sql, params), search(text), llm(prompt, {json}), now.',
      parameters: z.strictObject({
        name: name.describe("Lower-case letters, digits, - and _"),
        description: z
          .string()
          .min(1)
          .max(MAX_DESCRIPTION_LENGTH)
          .describe("What it does, for whoever enables it"),
        mode: z
          .enum(["persistent", "one-shot"])
          .optional()
          .describe("one-shot: fires once. persistent unless told"),
        code: z.string().min(1).max(MAX_HOOK_SOURCE_LENGTH).describe("TypeScript, without a header comment"),
      }),
      writes: true,
      repeatable: false,
      timeoutMs: TIMEOUT_MS,
      asksForOthers: NOT_THE_OWNERS,
      trust: {},
      // Which hooks there are.
      errorTrust: { private: true },
      async run({ name, description, mode = "persistent", code }) {
        const header = writeHeader({
          title: parseHookName(name),
          description,
          mode,
          tags: [WRITTEN_BY_AGENT],
        });
        if ((await list()).filter(isOfAgent).length >= MAX_HOOKS_OF_AGENTS) throw tooMany();
        const { state } = await add(name, `${header}${code.trim()}\n`);
        return {
          text:
            `The hook ${name} is written and ${state}. A person has to enable it: \`cortex hooks show ${name}\`, then ` +
            `\`cortex hooks enable ${name}\`; or call enable_hook, which asks.`,
        };
      },
    }),
    defineTool({
      name: "list_hooks",
      description:
        "Lists the hooks: what each does, whether it is active, how often it has fired, its last error.",
      parameters: z.strictObject({}),
      writes: false,
      repeatable: true,
      timeoutMs: TIMEOUT_MS,
      // Errors of hooks hold what strangers have written.
      trust: { untrusted: true, private: true },
      async run() {
        const hooks = await list();
        return { text: hooks.map(describe).join("\n") || "There are no hooks." };
      },
    }),
    defineTool({
      name: "enable_hook",
      description: "Lets a hook judge events from now on. A person is asked first.",
      parameters: z.strictObject({ name }),
      writes: true,
      repeatable: true,
      timeoutMs: TIMEOUT_MS,
      // The error of a hook that cannot be loaded quotes it.
      trust: { untrusted: true, private: true },
      asks: "a hook that is enabled decides for itself; read it with `cortex hooks show` first",
      async run({ name }) {
        const { state, error } = await setEnabled(name, true);
        return { text: `The hook ${name} is ${state}${error === undefined ? "" : `: ${error}`}.` };
      },
    }),
    defineTool({
      name: "disable_hook",
      description:
        "Keeps a hook from judging events until it is enabled again. In a conversation with others, a person is asked first.",
      parameters: z.strictObject({ name }),
      writes: true,
      repeatable: true,
      timeoutMs: TIMEOUT_MS,
      // Whoever can have a hook disabled can have messages ignored.
      trust: { outward: true },
      asksForOthers: NOT_THE_OWNERS,
      errorTrust: { private: true },
      async run({ name }) {
        const { state } = await setEnabled(name, false);
        return { text: `The hook ${name} is ${state}.` };
      },
    }),
  ];
}

function isOfAgent({ origin, present }: StoredHook): boolean {
  return origin === "agent" && present;
}

function tooMany(): CortexError {
  return new CortexError("limit_invalid", `There are ${MAX_HOOKS_OF_AGENTS} hooks of agents already`, {
    hint: "The owner has to delete some of them in the folder hooks/ before there can be another.",
  });
}

function describe({ name, state, mode, origin, description, triggers, error }: StoredHook): string {
  const by = origin === "agent" ? ", written by an agent" : "";
  const failed = error === undefined ? "" : ` Last error: ${error.slice(0, MAX_DESCRIPTION_LENGTH)}`;
  return `- ${name} (${state}, ${mode}${by}, fired ${count(triggers, "time")}): ${description}${failed}`;
}
