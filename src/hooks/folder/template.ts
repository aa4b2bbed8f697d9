/** The text of a new hook: what `cortex hooks new` writes, and the header of what agents write. */
export interface HookHeader {
  readonly title: string;
  readonly description: string;
  readonly mode: "persistent" | "one-shot";
  /** Further tags, such as `@origin agent`. */
  readonly tags?: readonly string[];
}

/** The comment that a hook begins with. */
export function writeHeader({ title, description, mode, tags = [] }: HookHeader): string {
  const lines = [`@name ${oneLine(title)}`, `@description ${oneLine(description)}`, `@mode ${mode}`, ...tags];
  return `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`;
}

/** Nothing in it can end the comment, or begin another tag. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("*/", "* /").trim();
}

/** A hook that does nothing yet, and says how it can do something. */
export function writeTemplate(name: string, schedule?: string): string {
  const header = writeHeader({
    title: titleOf(name),
    description: "What it does, in a sentence",
    mode: "persistent",
    tags: ["@starts disabled"],
  });
  return header + (schedule === undefined ? messageTemplate() : scheduleTemplate(name, schedule));
}

/** `school-mails` is "School mails". */
function titleOf(name: string): string {
  const words = name.replaceAll(/[-_]+/g, " ").trim();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

const messageTemplate = (): string => `import type { Filter, HookContext, HookResult } from "cortexd/hooks";

/**
 * Which events the hook is asked about. All that is given must fit; what is left out fits everything.
 * Patterns are RE2: (?i) ignores case, and there are no backreferences.
 */
export const filter: Filter = {
  channels: ["email"],
  // senders: ["ada@example.com"],
  // directions: ["received"],
  // match: "(?i)invoice",
};

/** Asked about each event that fits, with ten seconds to answer. A change counts when the file is saved. */
export default async function ({ event }: HookContext): Promise<HookResult> {
  if (!/invoice/i.test(event.content ?? "")) return { fire: false };

  // Beside the event, the context has
  //   query(sql, params)     read the ledger with SQL: events, agent_turns, hook_runs, …
  //   search(text, options)  find what was said, by its words
  //   llm(prompt, { json })  ask a model, within hooks.llmUsdPerDay of cortex.json
  //   now, hook, signal, dbPath

  return {
    fire: true,
    // One of session, thread, persona, agent and relay.
    routing: { session: "main" },
    context: { prompt: "This looks like an invoice. Note who wants how much, and by when." },
    // Keeps the hooks called default-… from answering the same message:
    // exclusive: true,
  };
}
`;

const scheduleTemplate = (
  name: string,
  schedule: string,
): string => `import type { Filter, HookResult } from "cortexd/hooks";

/**
 * When it fires, on the clock of \`timezone\` in cortex.json: a cron expression, "every 30m", or "at
 * 2026-12-01T09:00". \`cortex hooks next\` shows what that means. With catchUp "once", a moment that was missed
 * while Cortex was down is made up for, once.
 */
export const filter: Filter = { channels: ["timer"], cron: ${JSON.stringify(schedule)}, catchUp: "skip" };

export default async function (): Promise<HookResult> {
  return {
    fire: true,
    // A session of its own: the turns of a job stay together, and out of the way.
    routing: { session: "agent:main:cron:${name}" },
    context: { prompt: "What is to be done now." },
    // Timers have no address. To send the answer somewhere:
    // delivery: { channel: "telegram", place: "123" },
  };
}
`;
