/**
 * The next move of a relay: a function from its rows to one save.
 *
 * A move goes as far as possible without waiting: one commit records a step that has ended, evaluates the transitions and
 * requests the next step. It stops to wait for a step or a script. After a crash before the commit, the move is repeated
 * from the same rows.
 */
import { readArtifact, workspaceOf } from "../artifact/artifact.ts";
import { beginLeg } from "./begin-steps.ts";
import { conclude, type MoveDraft, isRunning, newDraft } from "./draft.ts";
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

export interface Move extends Readonly<MoveDraft> {
  /** To run after the move is saved. */
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

async function passSteps(draft: MoveDraft, relay: KeptRelay, ports: EnginePorts): Promise<Next> {
  const next = nextSteps(draft.record, relay.content.template);
  if (next.length > 0) return (await beginLeg(draft, next, relay, ports)) ? "wait" : "on";
  if (stepsOfLeg(draft.record).some(isRunning) && draft.abort === undefined) return "wait";
  return (await judgeLeg(draft, relay, ports)) ? "on" : "wait";
}

async function passScript(
  draft: MoveDraft,
  phase: Extract<Phase, { kind: "script" }>,
  relay: KeptRelay,
  ports: EnginePorts,
): Promise<Next> {
  const { point, source, state } = phase;
  const { clock } = ports;
  // Wait for the agent that a script requested, and before the end scripts for every running step.
  if ((state === "inserted" || point === "end") && draft.record.steps.some(isRunning)) return "wait";
  const extra = ports.extraScripts.get(relay.id);
  const script = scriptAt(phase, relay.content, extra);
  if (state === "due" && script !== undefined) {
    draft.record = markScript(draft.record, "begun", clock());
    return { point, source, script };
  }
  // The engine waits for a running script, so a script found in state `begun` was interrupted by a crash.
  draft.record = recordCutOff(draft.record, script?.command ?? "", clock());
  if (state === "inserted" && point !== "end") await judgeInserted(draft, relay, ports);
  if (draft.record.phase !== phase) return "on"; // interrupted or aborted
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

/** How much of an artifact or answer is sent at the end: more would flood a chat. */
export const MAX_FAREWELL_LENGTH = 32_000;

function cut(text: string, path: string): string {
  if (text.length <= MAX_FAREWELL_LENGTH) return text;
  return `${text.slice(0, MAX_FAREWELL_LENGTH).toWellFormed()}\n[… full text in ${path}]`;
}
