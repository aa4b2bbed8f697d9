/** What must be right about the conditions of transitions. It needs no agents to be judged, so shells have it too. */
import { type Path, quote } from "../../config/problem.ts";
import { CortexError } from "../../model/errors.ts";
import { ownerPatterns } from "../../patterns/matcher.ts";
import { doubtful, type Finding, wrong } from "./finding.ts";
import type { Loose } from "./loose.ts";
import type { TemplateEntry } from "./schema.ts";

type LooseTransitions = Loose<TemplateEntry>["transitions"];
type LooseTransition = NonNullable<NonNullable<LooseTransitions>[number]>;
type LooseCondition = NonNullable<LooseTransition["condition"]>;

export async function checkConditions({
  transitions = [],
}: {
  readonly transitions?: LooseTransitions;
}): Promise<Finding[]> {
  const findings: Finding[] = [];
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

const PARAMETERS: Readonly<Record<string, readonly (keyof LooseCondition)[]>> = {
  always: [],
  convergence: ["marker", "maxIterations", "onMarker", "scope"],
  output_contains: ["pattern", "scope"],
  output_not_contains: ["pattern", "scope"],
};

function checkParameters(condition: LooseCondition, path: Path): Finding[] {
  const used = PARAMETERS[condition.type ?? ""];
  if (used === undefined) return [];
  const findings = (Object.keys(condition) as (keyof LooseCondition)[])
    .filter((key) => key !== "type" && !used.includes(key))
    .map((key) => {
      const message = `means nothing for ${quote(condition.type)}`;
      return doubtful([...path, key], message, "Leave it out, or change the type.");
    });
  if (condition.type === "convergence" && condition.marker === undefined) {
    const hint = 'Add a marker, such as "[APPROVED]".';
    findings.push(doubtful(path, "convergence has no marker, so that it never comes", hint));
  }
  return findings;
}

async function checkPattern({ type, pattern }: LooseCondition, path: Path): Promise<Finding[]> {
  if (type !== "output_contains" && type !== "output_not_contains") return [];
  if (pattern === undefined || pattern === "") {
    const where = pattern === undefined ? path : [...path, "pattern"];
    return [doubtful(where, "an empty pattern is in every text", "Write what to look for, or use always.")];
  }
  try {
    await ownerPatterns.check([pattern]);
    return [];
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    return [wrong([...path, "pattern"], error.message, error.hint)];
  }
}

/** Several agents that have ended cannot be told to try again. */
function checkJoin({ from, condition }: LooseTransition, path: Path): Finding[] {
  if (condition?.type !== "convergence" || typeof from === "string" || (from?.length ?? 0) < 2) return [];
  const hint = "Join them with always, and let the agent after them converge.";
  return [wrong([...path, "type"], "convergence follows on one agent, and here are several", hint)];
}
