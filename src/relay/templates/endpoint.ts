/** The ends of a transition: `agent`, meaning any of its stages, or `agent:stage`. */

export interface Endpoint {
  readonly agent: string;
  /** Null: the end names no stage, or the agent has none. */
  readonly stage: string | null;
}

/** Splits at the first colon: the name of a stage may contain another. */
export function parseEndpoint(text: string): Endpoint {
  const colon = text.indexOf(":");
  if (colon === -1) return { agent: text, stage: null };
  return { agent: text.slice(0, colon), stage: text.slice(colon + 1) || null };
}

export function printEndpoint({ agent, stage }: Endpoint): string {
  return stage === null ? agent : `${agent}:${stage}`;
}

/** Whether an end named in a rule covers a step. */
export function meansStep(end: Endpoint, step: Endpoint): boolean {
  return end.agent === step.agent && (end.stage === null || end.stage === step.stage);
}

interface Staged {
  readonly stages?: Readonly<Record<string, unknown>> | undefined;
  readonly entryStage?: string | undefined;
}

/** The stage that a step runs: the requested one, else the agent's entry stage, else its first. */
export function resolveStage({ stages = {}, entryStage }: Staged, asked: string | null): string | null {
  for (const stage of [asked, entryStage]) {
    if (typeof stage === "string" && Object.hasOwn(stages, stage)) return stage;
  }
  return Object.keys(stages)[0] ?? null;
}

const THREAD_COMMANDS = ["add", "agents", "cancel", "help", "list", "say", "status", "templates"] as const;

/** Whether a word after `!thread` is a command, and so cannot name an agent or a template. */
export function isThreadCommand(word: string): word is (typeof THREAD_COMMANDS)[number] {
  return THREAD_COMMANDS.some((command) => command === word);
}
