/** Checks of the conditions of transitions. They do not depend on agents, so they also apply to shells. */
import { type Path, quote } from "../../config/problem.ts";
import { CortexError } from "../../model/errors.ts";
import { ownerPatterns } from "../../patterns/matcher.ts";
import { type EntryFinding, errorAt, warningAt } from "./finding.ts";
import type { Loose } from "./loose.ts";
import type { TemplateEntry } from "./schema.ts";

type LooseTransitions = Loose<TemplateEntry>["transitions"];
type LooseTransition = NonNullable<NonNullable<LooseTransitions>[number]>;
type LooseCondition = NonNullable<LooseTransition["condition"]>;

export async function checkConditions({
  transitions = [],
}: {
  readonly transitions?: LooseTransitions;
}): Promise<EntryFinding[]> {
  const findings: EntryFinding[] = [];
  for (const [index, transition] of transitions.entries()) {
    if (transition?.condition === undefined) continue;
    const path = ["transitions", index, "condition"];
    findings.push(
      ...checkParameters(transition.condition, path),
      ...(await checkPattern(transition.condition, path)),
      ...checkJoin(transition, path),
    );
  }
  return findings;
}

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  always: [],
  convergence: ["marker", "maxIterations", "onMarker", "scope"],
  output_contains: ["pattern", "scope"],
  output_not_contains: ["pattern", "scope"],
};

function checkParameters(condition: LooseCondition, path: Path): EntryFinding[] {
  const used = PARAMETERS[condition.type ?? ""];
  if (used === undefined) return [];
  const findings = Object.keys(condition)
    .filter((key) => key !== "type" && !used.includes(key))
    .map((key) => {
      const message = `no effect with ${quote(condition.type)}`;
      return warningAt([...path, key], message, "Remove it, or change the type.");
    });
  if (condition.type === "convergence" && condition.marker === undefined) {
    const hint = 'Add a marker, such as "[APPROVED]".';
    findings.push(warningAt(path, "convergence without a marker never converges", hint));
  }
  return findings;
}

async function checkPattern({ type, pattern }: LooseCondition, path: Path): Promise<EntryFinding[]> {
  if (type !== "output_contains" && type !== "output_not_contains") return [];
  if (pattern === undefined || pattern === "") {
    const where = pattern === undefined ? path : [...path, "pattern"];
    return [warningAt(where, "an empty pattern matches every text", "Write a pattern, or use always.")];
  }
  try {
    await ownerPatterns.check([pattern]);
    return [];
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    return [errorAt([...path, "pattern"], error.message, error.hint)];
  }
}

/** The steps of a join cannot be run again together. */
function checkJoin({ from, condition }: LooseTransition, path: Path): EntryFinding[] {
  if (condition?.type !== "convergence" || typeof from === "string" || (from?.length ?? 0) < 2) return [];
  const hint = "Join them with always, and let the next agent converge.";
  return [errorAt([...path, "type"], "convergence supports only one agent in from", hint)];
}
