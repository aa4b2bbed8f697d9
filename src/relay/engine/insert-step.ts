/** The step that a script asks for: an agent made for this one time, or a message to one that the relay has. */
import { ACTIVE_PROFILE } from "../../model/profile.ts";
import { buildSessionKey, normalizeSessionKey, type SessionKey } from "../../model/session-key.ts";
import { changesBefore, hasHead, NO_CHANGES } from "./begin-steps.ts";
import { leftToSpend } from "./budget.ts";
import { buildMessage, fillPrompt, type StepPrompt } from "./build-prompt.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { KeptRelay, Update } from "../record/kept-relay.ts";
import { previousOutput, scriptSession, targetSession } from "../record/next-step.ts";
import { orderStep } from "./order-step.ts";
import { markScript } from "../record/phases.ts";
import type { RelayRecord, ScriptPoint } from "../record/record.ts";
import { keepNow } from "./record-ends.ts";
import { beginSteps, scriptSlot } from "../record/record-step.ts";
import { names } from "../prompts/runtime-variables.ts";
import type { ScriptAnswer } from "../scripts/script-answer.ts";
import { agentIn, type RelayAgent } from "../templates/snapshot.ts";
import { keepFiles } from "./step-files.ts";

/** Undefined: nothing is left to spend on it. */
export async function insertStep(
  relay: KeptRelay,
  point: ScriptPoint,
  answer: Extract<ScriptAnswer, { kind: "insert" | "target" }>,
  parts: EngineParts,
): Promise<Update | undefined> {
  const { record, detail } = relay;
  const { home, clock } = parts;
  const left = await leftToSpend(record, relay, parts);
  if (left <= 0) return undefined;
  const step = record.steps.length;
  const { slot, agent, session, systemPrompt, prompt } =
    answer.kind === "insert"
      ? inserted(record, point, await filled(relay, answer.prompt, parts))
      : await targeted(relay, answer.agent, await filled(relay, answer.prompt, parts), parts);
  const { profile = agent.profile } = answer;
  const { hash: artifactBefore } = await keepNow(record, home);
  await keepFiles(relay, [step], parts);
  const asked = { step, slot, stage: null, session, agent: { ...agent, profile }, systemPrompt, prompt };
  const maxCostUsd = Number.isFinite(left) ? left : undefined;
  const order = orderStep({ ...asked, maxCostUsd }, { record, detail }, parts);
  const start = { kind: "inserted", slot, stage: null, input: prompt, session, artifactBefore } as const;
  return {
    record: markScript(beginSteps(record, [start], clock()), "inserted", clock()),
    orders: new Map([[step, order]]),
    due: false,
  };
}

interface Asked extends StepPrompt {
  readonly slot: string;
  readonly agent: RelayAgent;
  readonly session: SessionKey;
}

/** With all that the prompts of files may name. What came before is whatever has ended last, of this leg too. */
async function filled({ record, detail }: KeptRelay, prompt: string, parts: EngineParts): Promise<string> {
  const before = { ...record, leg: NO_LEG };
  const namesChanges = CHANGES.some((variable) => names(prompt, variable));
  return fillPrompt(prompt, {
    userMessage: record.userMessage,
    previousOutput: previousOutput(before),
    isAdHoc: false,
    artifactPath: record.artifactPath,
    sectionPath: null,
    ...(namesChanges ? await changesBefore({ record: before, detail }, parts) : NO_CHANGES),
    currentDateTime: parts.localTime(parts.clock()),
  });
}

const NO_LEG = -1;
const CHANGES = ["modifiedFiles", "modifiedFilesWithDiff"] as const;

function inserted({ id, steps }: RelayRecord, point: ScriptPoint, prompt: string): Asked {
  const agent: RelayAgent = {
    name: scriptSlot(point),
    description: "",
    profile: ACTIVE_PROFILE,
    persistSession: false,
    pluginDirs: [],
  };
  return { slot: scriptSlot(point), agent, session: scriptSession(id, point, steps.length), prompt };
}

/** One that has had no step yet begins with this message, and is told first who it is. */
async function targeted(
  { record, content }: KeptRelay,
  slot: string,
  prompt: string,
  parts: EngineParts,
): Promise<Asked> {
  const agent = agentIn(content, slot)!;
  const key = { kind: "relay", relay: record.id, slot } as const;
  const own = buildSessionKey(agent.persistSession ? key : { ...key, step: record.steps.length });
  const session = normalizeSessionKey(targetSession(record, slot) ?? own);
  const facts = {
    agent,
    isResumed: await hasHead(session, parts),
    artifactPath: record.artifactPath === "" ? null : record.artifactPath,
    sectionPath: null,
    currentDateTime: parts.localTime(parts.clock()),
  };
  return { slot, agent, session, ...buildMessage(facts, prompt) };
}
