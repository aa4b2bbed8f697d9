/** The ends of a transition: `agent`, which is any stage of it, or `agent:stage`. */

export interface Endpoint {
  readonly agent: string;
  /** Null where an end names no stage, and where an agent has none. */
  readonly stage: string | null;
}

/** The agent ends at the first colon: what a stage is called may hold another. */
export function parseEndpoint(text: string): Endpoint {
  const colon = text.indexOf(":");
  if (colon === -1) return { agent: text, stage: null };
  return { agent: text.slice(0, colon), stage: text.slice(colon + 1) || null };
}

export function printEndpoint({ agent, stage }: Endpoint): string {
  return stage === null ? agent : `${agent}:${stage}`;
}

/** Whether an end that a rule names means a step. */
export function meansStep(end: Endpoint, step: Endpoint): boolean {
  return end.agent === step.agent && (end.stage === null || end.stage === step.stage);
}

interface Staged {
  readonly stages?: Readonly<Record<string, unknown>> | undefined;
  readonly entryStage?: string | undefined;
}

/** The stage that a step runs: the one that is asked for, else where the agent begins, else its first. */
export function resolveStage({ stages = {}, entryStage }: Staged, asked: string | null): string | null {
  for (const stage of [asked, entryStage]) {
    if (typeof stage === "string" && Object.hasOwn(stages, stage)) return stage;
  }
  return Object.keys(stages)[0] ?? null;
}

const THREAD_COMMANDS = ["add", "agents", "cancel", "help", "list", "say", "status", "templates"] as const;

/** Whether a word after `!thread` is a command, and so cannot name an agent. */
export function isThreadCommand(word: string): word is (typeof THREAD_COMMANDS)[number] {
  return (THREAD_COMMANDS as readonly string[]).includes(word);
}
