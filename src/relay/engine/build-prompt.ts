/**
 * Builds the prompt of a step: the agent's directive, an explanation of relays, its own prompt, and messages from people.
 * A continued session already has the first two.
 */
import type { Pending } from "../record/pending-messages.ts";
import {
  fillSystemVariables,
  fillVariables,
  usesVariable,
  type RuntimeValues,
} from "../prompts/runtime-variables.ts";
import type { RelayAgent, RelayStage } from "../templates/snapshot.ts";

export interface StepFacts {
  readonly agent: RelayAgent;
  /** Null: the agent has none. */
  readonly stage: string | null;
  /** The message that started the relay. */
  readonly userMessage: string;
  /** The message that came with an added agent. */
  readonly message?: string | undefined;
  /** The output of the last step with an answer. Null before the first. */
  readonly previousOutput: string | null;
  /** Whether the agent is not part of a template. Its prompt then includes the previous output. */
  readonly isAdHoc: boolean;
  /** Whether the agent continues its earlier session, which still exists. */
  readonly isResumed: boolean;
  /** Absolute. Null: the relay has no workspace. */
  readonly artifactPath: string | null;
  /** The file that a step of a fan-out writes to instead. Null for every other step. */
  readonly sectionPath: string | null;
  /** Files changed by the previous step, rendered as text. */
  readonly modifiedFiles: string;
  readonly modifiedFilesWithDiff: string;
  /** Messages from people since the last step. */
  readonly pending: Pending;
  /** ISO 8601 with its offset. */
  readonly currentDateTime: string;
}

/** The facts that the variables of a prompt are filled with. */
type PromptFacts = Omit<StepFacts, "agent" | "stage" | "isResumed" | "pending">;

export interface StepPrompt {
  readonly systemPrompt?: string;
  readonly prompt: string;
}

/** For an agent without its own prompt. */
const DEFAULT_PROMPT = "{{input}}";

export function buildPrompt(facts: StepFacts): StepPrompt {
  const { prompt, ...rest } = buildMessage(facts, stepPrompt(facts));
  return { ...rest, prompt: (prompt + replies(facts)).trim() };
}

/** Fills in a prompt from a script, which may use the same variables as a prompt file. */
export function fillPrompt(text: string, facts: PromptFacts): string {
  return fillVariables(text, valuesOf(facts));
}

type SessionFacts = Pick<
  StepFacts,
  "agent" | "isResumed" | "artifactPath" | "sectionPath" | "currentDateTime"
>;

/** A message to an agent. In a new session, the directive and an explanation of relays precede it. */
export function buildMessage(facts: SessionFacts, text: string): StepPrompt {
  const { agent, isResumed } = facts;
  const system = { artifactPath: writesTo(facts), currentDateTime: facts.currentDateTime };
  const parts = [text];
  if (!isResumed) {
    if (facts.artifactPath !== null) parts.unshift(preamble(facts.artifactPath, facts.sectionPath));
    if (agent.directive !== undefined) parts.unshift(fillSystemVariables(agent.directive, system));
  }
  // Prompt files end with a line break, which must not add a blank line between the parts.
  const prompt = parts.map((part) => part.trimEnd()).join("\n\n");
  if (agent.systemPrompt === undefined) return { prompt };
  return { systemPrompt: fillSystemVariables(agent.systemPrompt, system), prompt };
}

/** Whether the prompt of an added agent contains the message that came with it. */
export function includesMessage(asked: Pick<StepFacts, "agent" | "stage" | "isAdHoc">): boolean {
  return asked.isAdHoc && usesVariable(templateOf(asked), "input");
}

function stepPrompt(facts: StepFacts): string {
  const { previousOutput } = facts;
  const stage = stageOf(facts);
  const template = templateOf(facts);
  const prompt = fillVariables(template, valuesOf(facts));
  const isIncremental = facts.isResumed && stage?.continuesSession === true;
  const isInjected = facts.isAdHoc && !isIncremental && previousOutput !== null;
  if (!isInjected || previousOutput === "" || usesVariable(template, "previousOutput")) return prompt;
  return `Previous agent output:\n\n${previousOutput}\n\n---\n\n${prompt}`;
}

function templateOf(facts: Pick<StepFacts, "agent" | "stage">): string {
  return stageOf(facts)?.promptTemplate ?? facts.agent.promptTemplate ?? DEFAULT_PROMPT;
}

function stageOf({ agent: { stages }, stage }: Pick<StepFacts, "agent" | "stage">): RelayStage | undefined {
  return stage !== null && stages !== undefined && Object.hasOwn(stages, stage) ? stages[stage] : undefined;
}

/** The input of an ad-hoc agent is the message from the person; other agents get the previous output. */
function valuesOf(facts: PromptFacts): RuntimeValues {
  const { userMessage, modifiedFiles, modifiedFilesWithDiff, currentDateTime } = facts;
  return {
    input: facts.isAdHoc ? (facts.message ?? userMessage) : (facts.previousOutput ?? userMessage),
    userMessage,
    artifactPath: writesTo(facts),
    previousOutput: facts.previousOutput ?? "",
    modifiedFiles,
    modifiedFilesWithDiff,
    currentDateTime,
  };
}

/** The file an agent writes to: parallel steps must not share one. */
function writesTo({ artifactPath, sectionPath }: Pick<StepFacts, "artifactPath" | "sectionPath">): string {
  return sectionPath ?? artifactPath ?? "";
}

function preamble(artifactPath: string, sectionPath: string | null): string {
  const results =
    sectionPath === null
      ? "Add your own results and keep theirs."
      : `Other agents work in parallel with you: write your results to your own file, which is appended to the artifact:
${sectionPath}`;
  return `[Cortex Thread Protocol]
You are one of several agents working in turn in a Cortex thread. You share a file, the artifact:
${artifactPath}
Read it before you start: it contains the results of the agents before you. ${results}
Only if you are truly blocked and no later agent can continue either, end the thread: append [ABORT: <reason>] on a line
of its own to the file you write, or call the tool relay_abort.`;
}

function replies({ pending: { messages, dropped } }: StepFacts): string {
  if (messages.length === 0) return "";
  const count =
    dropped === 0 ? `${messages.length} buffered` : `last ${messages.length}, ${dropped} earlier dropped`;
  return `\n\n---\n\nUser replies (${count}):\n\n${messages.join("\n\n")}`;
}
