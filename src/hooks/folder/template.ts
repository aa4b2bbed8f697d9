/** The text of new hooks: the templates of `cortex hooks new`, and the header of hooks written by agents. */
interface HookHeader {
  readonly title: string;
  readonly description: string;
  readonly mode: "persistent" | "one-shot";
  /** Further tags, such as `@origin agent`. */
  readonly tags?: readonly string[];
}

/** The comment at the start of a hook. */
export function writeHeader({ title, description, mode, tags = [] }: HookHeader): string {
  const lines = [`@name ${oneLine(title)}`, `@description ${oneLine(description)}`, `@mode ${mode}`, ...tags];
  return `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`;
}

/** The result can neither end the comment nor start another tag. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("*/", "* /").trim();
}

/** A hook that does nothing yet, with instructions. */
export function writeTemplate(name: string, schedule?: string): string {
  const header = writeHeader({
    title: titleOf(name),
    description: "One sentence about what it does",
    mode: "persistent",
    tags: ["@starts disabled"],
  });
  return header + (schedule === undefined ? messageTemplate() : scheduleTemplate(name, schedule));
}

/** `school-emails` is "School emails". */
function titleOf(name: string): string {
  const words = name.replaceAll(/[-_]+/g, " ").trim();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

const messageTemplate = (): string => `import type { Filter, HookContext, HookResult } from "cortexd/hooks";

/**
 * The events that the hook judges. All given conditions must hold; omitted ones match everything.
 * Patterns are RE2: (?i) ignores case, and there are no backreferences.
 */
export const filter: Filter = {
  channels: ["email"],
  // senders: ["ada@example.com"],
  // directions: ["received"],
  // match: "(?i)invoice",
};

/** Called for each matching event, with a timeout of ten seconds. A change takes effect when you save the file. */
export default async function ({ event }: HookContext): Promise<HookResult> {
  if (!/invoice/i.test(event.content ?? "")) return { fire: false };

  // Besides the event, the context has
  //   query(sql, params)     read the ledger with SQL: events, agent_turns, hook_runs, …
  //   search(text, options)  full-text search over all messages
  //   llm(prompt, { json })  ask a model, within hooks.llmUsdPerDay of cortex.json
  //   now, hook, signal, dbPath

  return {
    fire: true,
    // One of session, thread, persona, agent and relay.
    routing: { session: "main" },
    context: { prompt: "This looks like an invoice. Note the sender, the amount and the due date." },
    // Silences the default hooks (default-…) for this message:
    // exclusive: true,
  };
}
`;

const scheduleTemplate = (
  name: string,
  schedule: string,
): string => `import type { Filter, HookResult } from "cortexd/hooks";

/**
 * The schedule, in the time zone of cortex.json: a cron expression, "every 30m", or "at 2026-12-01T09:00".
 * \`cortex hooks next\` shows the upcoming runs. With catchUp "once", the hook fires once for times that were missed
 * while Cortex was down.
 */
export const filter: Filter = { channels: ["timer"], cron: ${JSON.stringify(schedule)}, catchUp: "skip" };

export default async function (): Promise<HookResult> {
  return {
    fire: true,
    // Its own session keeps the turns of the job together.
    routing: { session: "agent:main:cron:${name}" },
    context: { prompt: "Describe the task here." },
    // Timers have no address. To send the answer somewhere:
    // delivery: { channel: "telegram", place: "123" },
  };
}
`;
