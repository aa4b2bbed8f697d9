/** Applies the answer of a script to its relay. */
import assert from "node:assert/strict";

import { localTime } from "../../model/day.ts";
import { buildSessionKey, normalizeSessionKey, type SessionKey } from "../../model/session-key.ts";
import type { Label } from "../../model/trust.ts";
import type { DueScript } from "./advance.ts";
import { hasHead, leftToSpend } from "./begin-steps.ts";
import { buildMessage, fillPrompt, type StepPrompt } from "./build-prompt.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { orderStep } from "./messages.ts";
import { keepNow } from "./record-ends.ts";
import { changesBefore, keepFiles, NO_CHANGES } from "./step-files.ts";
import { usesVariable } from "../prompts/runtime-variables.ts";
import type { KeptRelay, RelayUpdate } from "../record/kept-relay.ts";
import { previousOutput, scriptSession, targetSession } from "../record/next-step.ts";
import { markScript } from "../record/phases.ts";
import { beginSteps, recordFailedScript, scriptSlot } from "../record/record-step.ts";
import { isTerminal, type RelayRecord, type ScriptPoint } from "../record/record.ts";
import type { ScriptAnswer } from "../scripts/script-answer.ts";
import { plainAgent } from "../templates/resolve.ts";
import { agentIn, type RelayAgent } from "../templates/snapshot.ts";

/** Undefined: the relay was cancelled in the meantime, so the answer is ignored. */
export async function takeAnswer(
  relay: KeptRelay,
  due: DueScript & { readonly startedAtMs: number },
  answer: ScriptAnswer,
  ports: EnginePorts,
): Promise<RelayUpdate | undefined> {
  const { record } = relay;
  const { phase } = record;
  const { clock } = ports;
  const { point, source, script, startedAtMs } = due;
  const isOurs =
    phase.kind === "script" && phase.point === point && phase.source === source && phase.state === "begun";
  if (!isOurs || isTerminal(record)) return undefined;
  switch (answer.kind) {
    case "nothing":
      return { record: markScript(record, "inserted", clock()) };
    case "failed": {
      const failure = { point, command: script.command, startedAtMs, error: answer.error };
      return { record: markScript(recordFailedScript(record, failure, clock()), "inserted", clock()) };
    }
    case "insert":
    case "target":
      return (
        (await insertStep(relay, point, answer, ports)) ??
        takeAnswer(relay, due, { kind: "failed", error: NO_MONEY }, ports)
      );
  }
}

const NO_MONEY = "It requested an agent, but the budget is used up";

/**
 * Begins the step that a script requests: a temporary agent, or a message to an agent of the relay. Undefined: the budget is
 * used up.
 */
async function insertStep(
  relay: KeptRelay,
  point: ScriptPoint,
  answer: Extract<ScriptAnswer, { kind: "insert" | "target" }>,
  ports: EnginePorts,
): Promise<RelayUpdate | undefined> {
  const { record, detail } = relay;
  const { home, clock } = ports;
  const left = await leftToSpend(record, relay, ports);
  if (left <= 0) return undefined;
  const step = record.steps.length;
  const { text, label } = await filled(relay, answer.prompt, ports);
  const { slot, agent, session, systemPrompt, prompt } =
    answer.kind === "insert"
      ? inserted(record, point, text)
      : await targeted(relay, answer.agent, text, ports);
  const { profile = agent.profile } = answer;
  const { hash: artifactBefore } = await keepNow(record, home);
  await keepFiles(relay, [step], ports);
  const asked = {
    step,
    slot,
    stage: null,
    session,
    agent: { ...agent, profile },
    systemPrompt,
    prompt,
    label,
  };
  const maxCostUsd = Number.isFinite(left) ? left : undefined;
  const order = orderStep({ ...asked, maxCostUsd }, { record, detail }, ports);
  const start = { kind: "inserted", slot, stage: null, input: prompt, session, artifactBefore } as const;
  return {
    record: markScript(beginSteps(record, [start], clock()), "inserted", clock()),
    orders: new Map([[step, order]]),
    due: false,
  };
}

interface InsertedStep extends StepPrompt {
  readonly slot: string;
  readonly agent: RelayAgent;
  readonly session: SessionKey;
}

/** Fills in the same variables as in prompt files. The previous output may come from this leg too. */
async function filled(
  { record, detail }: KeptRelay,
  prompt: string,
  ports: EnginePorts,
): Promise<{ readonly text: string; readonly label: Label }> {
  const before = { ...record, leg: NO_LEG };
  const namesChanges = CHANGES.some((variable) => usesVariable(prompt, variable));
  const { texts, label } = namesChanges ? await changesBefore({ record: before, detail }, ports) : NO_CHANGES;
  const text = fillPrompt(prompt, {
    userMessage: record.userMessage,
    previousOutput: previousOutput(before),
    isAdHoc: false,
    artifactPath: record.artifactPath,
    sectionPath: null,
    ...texts,
    currentDateTime: localTime(ports.clock(), ports.settings.config().timezone),
  });
  return { text, label };
}

const NO_LEG = -1;
const CHANGES = ["modifiedFiles", "modifiedFilesWithDiff"] as const;

function inserted({ id, steps }: RelayRecord, point: ScriptPoint, prompt: string): InsertedStep {
  const slot = scriptSlot(point);
  return { slot, agent: plainAgent(slot), session: scriptSession(id, point, steps.length), prompt };
}

/** An agent without a step yet starts with this message, after its directive. */
async function targeted(
  { record, content }: KeptRelay,
  slot: string,
  prompt: string,
  ports: EnginePorts,
): Promise<InsertedStep> {
  const agent = agentIn(content, slot);
  assert(agent !== undefined, "a target is one of the relay's agents");
  const key = { kind: "relay", relay: record.id, slot } as const;
  const own = buildSessionKey(agent.persistSession ? key : { ...key, step: record.steps.length });
  const session = normalizeSessionKey(targetSession(record, slot) ?? own);
  const facts = {
    agent,
    isResumed: await hasHead(session, ports),
    artifactPath: record.artifactPath === "" ? null : record.artifactPath,
    sectionPath: null,
    currentDateTime: localTime(ports.clock(), ports.settings.config().timezone),
  };
  return { slot, agent, session, ...buildMessage(facts, prompt) };
}
