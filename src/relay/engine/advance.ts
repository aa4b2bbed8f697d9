/**
 * What a relay does next, from what is kept of it: a function from its rows to one save.
 *
 * It goes as far as it can without anything outside changing: a step that has ended is recorded, judged and followed by
 * the message for the next step in one commit. It stops where it has to wait for a step, or for a script to run. So a
 * crash is before that commit, and all of it is done again from the same rows; or after it, and nothing is.
 */
import { readArtifact, workspaceOf } from "../artifact/artifact.ts";
import { beginLeg } from "./begin-steps.ts";
import { conclude, type Draft, isRunning, newDraft } from "./draft.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { judgeInserted, judgeLeg } from "./judge-leg.ts";
import { recordEnds } from "./record-ends.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import { nextSteps } from "../record/next-step.ts";
import { afterScript, markScript, recordCutOff, scriptAt } from "../record/phases.ts";
import { stepsOfLeg } from "../record/record-step.ts";
import { isTerminal, type Phase, type RelayRecord, type ScriptPoint } from "../record/record.ts";
import { finalOutput, summarise } from "../record/summary.ts";
import type { RelayScript } from "../templates/snapshot.ts";

export interface Move extends Readonly<Draft> {
  /** To be run once the move is saved. */
  readonly script: DueScript | undefined;
}

export interface DueScript {
  readonly point: ScriptPoint;
  readonly source: "template" | "extra";
  readonly script: RelayScript;
}

export async function advance(relay: KeptRelay, ports: EnginePorts): Promise<Move> {
  const draft = newDraft(relay.record);
  await recordEnds(draft, relay, ports);
  if (relay.detail.unwanted !== undefined) conclude(draft, { stopReason: "cancelled" }, ports.clock());
  for (;;) {
    const { phase } = draft.record;
    const next =
      phase.kind === "script"
        ? await passScript(draft, phase, relay, ports)
        : phase.kind === "steps"
          ? await passSteps(draft, relay, ports)
          : "wait";
    if (next === "wait") return { ...draft, script: undefined };
    if (next !== "on") return { ...draft, script: next };
  }
}

type Next = "on" | "wait" | DueScript;

async function passSteps(draft: Draft, relay: KeptRelay, ports: EnginePorts): Promise<Next> {
  const next = nextSteps(draft.record, relay.content.template);
  if (next.length > 0) return (await beginLeg(draft, next, relay, ports)) ? "wait" : "on";
  if (stepsOfLeg(draft.record).some(isRunning) && draft.abort === undefined) return "wait";
  return (await judgeLeg(draft, relay, ports)) ? "on" : "wait";
}

async function passScript(
  draft: Draft,
  phase: Extract<Phase, { kind: "script" }>,
  relay: KeptRelay,
  ports: EnginePorts,
): Promise<Next> {
  const { point, source, state } = phase;
  const { clock } = ports;
  // The agent that a script asked for is at work. Or the relay ends: what runs is recorded before that is told.
  if ((state === "inserted" || point === "end") && draft.record.steps.some(isRunning)) return "wait";
  const extra = ports.extraScripts.get(relay.id);
  const script = scriptAt(phase, relay.content, extra);
  if (state === "due" && script !== undefined) {
    draft.record = markScript(draft.record, "begun", clock());
    return { point, source, script };
  }
  // Whoever runs a script waits for its end, so that one which has begun is one that a crash has cut off.
  draft.record = recordCutOff(draft.record, script?.command ?? "", clock());
  if (state === "inserted" && point !== "end") await judgeInserted(draft, relay, ports);
  if (draft.record.phase !== phase) return "on"; // it was cut off, or it aborts
  const hasExtra = scriptAt({ point, source: "extra" }, relay.content, extra) !== undefined;
  draft.record = afterScript(draft.record, hasExtra, clock());
  if (isTerminal(draft.record)) draft.farewell = await sumUp(draft.record, ports);
  return "on";
}

async function sumUp(record: RelayRecord, { home, clock }: EnginePorts): Promise<string> {
  const read = await readArtifact(workspaceOf(home, record.id));
  const output = finalOutput(record, read.kind === "read" ? read.text : undefined);
  const summary = summarise(record, clock());
  return output === undefined ? summary : `${cut(output.trim(), record.artifactPath)}\n\n${summary}`;
}

/** What is told of an artifact, or an answer: more would be a flood in a chat, and too much for a message. */
export const MAX_FAREWELL_LENGTH = 32_000;

function cut(text: string, path: string): string {
  if (text.length <= MAX_FAREWELL_LENGTH) return text;
  return `${text.slice(0, MAX_FAREWELL_LENGTH).toWellFormed()}\n[… all of it is in ${path}]`;
}
