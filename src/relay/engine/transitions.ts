/**
 * Decides what follows a step: first an abort, then the limits, then the first matching rule.
 *
 * The steps of a fan-out form one leg. Rules are evaluated after all of them have ended, and a rule matches a leg if it
 * names exactly its agents. Steps inserted by scripts belong to no leg and match no rule.
 */
import { ownerPatterns } from "../../patterns/matcher.ts";
import { addedText } from "../artifact/added-text.ts";
import { type Abort, findAbort } from "../record/abort-marker.ts";
import { stepsOfLeg } from "../record/record-step.ts";
import type { RelayRecord, StopReason } from "../record/record.ts";
import { entryTo, type Reading, readingOf } from "../templates/convergence.ts";
import { type Endpoint, meansStep, printEndpoint } from "../templates/endpoint.ts";
import type { RelayCondition, RelayScope, RelayTemplate, RelayTransition } from "../templates/snapshot.ts";

/** The texts after a step, or after the last step of a fan-out. */
export interface StepTexts {
  /** The artifact before. May be empty. */
  readonly before: string;
  /** Undefined: unreadable. */
  readonly artifact: string | undefined;
  readonly output: string;
  /** Requested with the tool. */
  readonly abort?: Abort;
}

export type Decision =
  /** `counted`: the edge whose counter is incremented. */
  | { readonly kind: "go"; readonly to: readonly Endpoint[]; readonly counted: string | undefined }
  | { readonly kind: "stop"; readonly stopReason: StopReason; readonly abortReason: string | null }
  /** Other steps of the fan-out have not ended. */
  | { readonly kind: "wait" };

interface Situation {
  /** Undefined: a single agent, without rules. */
  readonly template: RelayTemplate | undefined;
  readonly record: RelayRecord;
  readonly texts: StepTexts;
}

/** Throws `pattern_refused`. */
export async function decideNext({ template, record, texts }: Situation): Promise<Decision> {
  const examined = examine(texts);
  const before = texts.artifact === undefined ? "" : texts.before;
  const abort = texts.abort ?? (await findAbort(before, await examined("artifact")));
  if (abort !== undefined) return { kind: "stop", stopReason: "aborted", abortReason: abort.reason };
  const leg = stepsOfLeg(record);
  if (leg.some(({ status }) => status === "running")) return { kind: "wait" };
  const ended = leg.filter(({ status }) => status === "completed"); // a failed step may have been repeated
  if (template === undefined || ended.length === 0) return stop("no_matching_transition");
  const limit = reachedLimit(template, record);
  if (limit !== undefined) return stop(limit);

  const enter = entryTo(template);
  const steps = ended.map(({ agentSlotId, stage }) => enter({ agent: agentSlotId, stage }));
  for (const rule of template.transitions) {
    if (!leaves(rule, steps)) continue;
    const reading = readingOf(rule, template.transitions, enter);
    const decision = await follows(rule, { reading, steps, record, examined });
    if (decision === undefined) continue;
    if (decision.kind !== "go") return decision;
    const hasRoom = countCompleted(record) + decision.to.length <= template.maxTotalSteps;
    return hasRoom ? { ...decision, to: decision.to.map(enter) } : stop("max_iterations");
  }
  return stop("no_matching_transition");
}

/** Considers ended steps only: the remaining budget limits the next step itself. */
function reachedLimit(template: RelayTemplate, record: RelayRecord): StopReason | undefined {
  if (countCompleted(record) >= template.maxTotalSteps) return "max_iterations";
  const { maxTotalCostUsd } = template;
  return maxTotalCostUsd !== undefined && record.totalCostUsd >= maxTotalCostUsd ? "cost_limit" : undefined;
}

function countCompleted({ steps }: RelayRecord): number {
  return steps.filter(({ kind, status }) => kind === "agent" && status === "completed").length;
}

function leaves({ from }: RelayTransition, steps: readonly Endpoint[]): boolean {
  return (
    steps.every((step) => from.some((end) => meansStep(end, step))) &&
    from.every((end) => steps.some((step) => meansStep(end, step)))
  );
}

interface Examined extends Pick<Situation, "record"> {
  readonly reading: Reading;
  readonly steps: readonly Endpoint[];
  readonly examined: Examine;
}

/** Undefined: the rule does not apply. */
async function follows(
  rule: RelayTransition,
  { reading, steps, record, examined }: Examined,
): Promise<Decision | undefined> {
  const { to, condition } = rule;
  const go: Decision = { kind: "go", to, counted: undefined };
  switch (condition.type) {
    case "always":
      return go;
    case "output_contains":
      return (await matchesPattern(condition.pattern, await examined(condition.scope))) ? go : undefined;
    case "output_not_contains":
      return (await matchesPattern(condition.pattern, await examined(condition.scope))) ? undefined : go;
    case "convergence": {
      const edge = edgeOf(rule);
      const missed = record.iterationCounts[edge] ?? 0;
      if (await holdsMarker(condition, examined)) return reading === "stop" ? stop("converged") : go;
      // Forward, this run of `from` counts; back, the return to `to` counts.
      const isLast = (reading === "stop" ? missed : missed + 1) >= condition.maxIterations;
      if (isLast) return stop("max_iterations");
      return { kind: "go", to: reading === "stop" ? to : steps, counted: edge };
    }
  }
}

async function holdsMarker(
  { marker, scope }: Extract<RelayCondition, { type: "convergence" }>,
  examined: Examine,
): Promise<boolean> {
  return marker !== undefined && (await examined(scope)).includes(marker);
}

/** Returns the text that a rule examines. */
type Examine = (scope: RelayScope) => Promise<string>;

/** The answer replaces an unreadable artifact. The additions are computed once. */
function examine({ before, artifact, output }: StepTexts): Examine {
  let added: Promise<string> | undefined;
  return async (scope) => {
    if (scope === "output" || artifact === undefined) return output;
    return scope === "step" ? (added ??= addedText(before, artifact)) : artifact;
  };
}

export function edgeOf({ from, to }: Pick<RelayTransition, "from" | "to">): string {
  return `${printEnds(from)}→${printEnds(to)}`;
}

function printEnds(ends: readonly Endpoint[]): string {
  return ends.map(printEndpoint).join(",");
}

function stop(stopReason: StopReason): Decision {
  return { kind: "stop", stopReason, abortReason: null };
}

/** Only the end of a longer text is matched. */
export const MAX_EXAMINED_CHARACTERS = 256 * 1024;

/** Whether a pattern occurs in a text. Throws `pattern_refused`. */
export async function matchesPattern(pattern: string, text: string): Promise<boolean> {
  const [found] = await ownerPatterns.test([pattern], [text.slice(-MAX_EXAMINED_CHARACTERS)]);
  return found?.[0] === true;
}
