/**
 * What an agent is asked in a step: who it is, how relays work, its own prompt, and what people have said meanwhile.
 * A session that goes on knows the first two already.
 */
import type { Pending } from "../record/pending-messages.ts";
import {
  fillSystemVariables,
  fillVariables,
  usesVariable,
  type RuntimeValues,
} from "../prompts/runtime-variables.ts";
import type { RelayAgent } from "../templates/snapshot.ts";

export interface StepFacts {
  readonly agent: RelayAgent;
  /** Null where the agent has none. */
  readonly stage: string | null;
  /** What the relay was started with. */
  readonly userMessage: string;
  /** What came with an agent that was added. */
  readonly message?: string | undefined;
  /** What the last step with an answer answered. Null before the first. */
  readonly previousOutput: string | null;
  /** Whether the agent runs by itself and not by a template: it is then given what came before. */
  readonly isAdHoc: boolean;
  /** Whether the agent goes on with a session that it had before, and that is still there. */
  readonly isResumed: boolean;
  /** Absolute. Null where the relay has no workspace. */
  readonly artifactPath: string | null;
  /** Where a step of a fan-out writes instead. Null for every other step. */
  readonly sectionPath: string | null;
  /** Of the step before, as texts for people. */
  readonly modifiedFiles: string;
  readonly modifiedFilesWithDiff: string;
  /** What people have written to the relay since the last step. */
  readonly pending: Pending;
  /** ISO 8601 with its offset. */
  readonly currentDateTime: string;
}

/** What the variables of a prompt stand for. */
export type PromptFacts = Omit<StepFacts, "agent" | "stage" | "isResumed" | "pending">;

export interface StepPrompt {
  readonly systemPrompt?: string;
  readonly prompt: string;
}

/** An agent that has no prompt of its own. */
const DEFAULT_PROMPT = "{{input}}";

export function buildPrompt(facts: StepFacts): StepPrompt {
  const { prompt, ...rest } = buildMessage(facts, stepPrompt(facts));
  return { ...rest, prompt: (prompt + replies(facts)).trim() };
}

/** What a script asks for, as a prompt: it may name the same variables as a prompt of a file. */
export function fillPrompt(text: string, facts: PromptFacts): string {
  return fillVariables(text, valuesOf(facts));
}

type SessionFacts = Pick<
  StepFacts,
  "agent" | "isResumed" | "artifactPath" | "sectionPath" | "currentDateTime"
>;

/** A text as a message to an agent. A session that begins with it is told first who it is, and how relays work. */
export function buildMessage(facts: SessionFacts, text: string): StepPrompt {
  const { agent, isResumed } = facts;
  const system = { artifactPath: writesTo(facts), currentDateTime: facts.currentDateTime };
  const parts = [text];
  if (!isResumed) {
    if (facts.artifactPath !== null) parts.unshift(preamble(facts.artifactPath, facts.sectionPath));
    if (agent.directive !== undefined) parts.unshift(fillSystemVariables(agent.directive, system));
  }
  // Files end with a line break, which is not meant as one of the blank lines between the parts.
  const prompt = parts.map((part) => part.trimEnd()).join("\n\n");
  if (agent.systemPrompt === undefined) return { prompt };
  return { systemPrompt: fillSystemVariables(agent.systemPrompt, system), prompt };
}

/** Whether the prompt of an agent says what came with it when it was added. */
export function asksMessage(asked: Pick<StepFacts, "agent" | "stage" | "isAdHoc">): boolean {
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

function stageOf({
  agent: { stages },
  stage,
}: Pick<StepFacts, "agent" | "stage">): { promptTemplate: string; continuesSession: boolean } | undefined {
  return stage !== null && stages !== undefined && Object.hasOwn(stages, stage) ? stages[stage] : undefined;
}

/** An agent that runs by itself is asked what the person asks, and is given the rest beside it. */
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

/** Where prompts send an agent to write: two that work at the same time must not write to one file. */
function writesTo({ artifactPath, sectionPath }: Pick<StepFacts, "artifactPath" | "sectionPath">): string {
  return sectionPath ?? artifactPath ?? "";
}

function preamble(artifactPath: string, sectionPath: string | null): string {
  const results =
    sectionPath === null
      ? "Add your own results to it, and keep theirs."
      : `Other agents work at the same time as you: write your results to your own file, which is added to it:
${sectionPath}`;
  return `[Cortex Thread Protocol]
You are one of several agents that work in turn in a Cortex thread. You share a file, the artifact:
${artifactPath}
Read it before you begin: it holds what the agents before you found. ${results}
Only if you are truly blocked and nobody after you can go on either, end the thread: append a line of its own to what
you write, [ABORT: <reason>], or call the tool relay_abort.`;
}

function replies({ pending: { messages, dropped } }: StepFacts): string {
  if (messages.length === 0) return "";
  const count =
    dropped === 0 ? `${messages.length} buffered` : `last ${messages.length}, ${dropped} earlier dropped`;
  return `\n\n---\n\nUser replies (${count}):\n\n${messages.join("\n\n")}`;
}
