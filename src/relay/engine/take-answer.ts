/** What becomes of a relay by what its script has answered. */
import type { DueScript } from "./advance.ts";
import type { EngineParts } from "./engine-parts.ts";
import { insertStep } from "./insert-step.ts";
import type { KeptRelay, Update } from "../record/kept-relay.ts";
import { markScript } from "../record/phases.ts";
import { isTerminal } from "../record/record.ts";
import { recordFailedScript } from "../record/record-step.ts";
import type { ScriptAnswer } from "../scripts/script-answer.ts";

/** Undefined: the relay has been cancelled meanwhile, and the answer does not count. */
export async function takeAnswer(
  relay: KeptRelay,
  due: DueScript & { readonly startedAtMs: number },
  answer: ScriptAnswer,
  parts: EngineParts,
): Promise<Update | undefined> {
  const { record } = relay;
  const { phase } = record;
  const { clock } = parts;
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
        (await insertStep(relay, point, answer, parts)) ??
        takeAnswer(relay, due, { kind: "failed", error: NO_MONEY }, parts)
      );
  }
}

const NO_MONEY = "It asked for an agent, and nothing is left to spend";
