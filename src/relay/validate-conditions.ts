/** What must be right about the conditions of transitions. It needs no agents to be judged, so shells have it too. */
import type { RE2JS } from "re2js";
import { type Path, quote } from "../config/problem.ts";
import { doubtful, type Finding, wrong } from "./finding.ts";
import type { Loose } from "./loose.ts";
import type { TemplateEntry } from "./schema.ts";

type LooseTransitions = Loose<TemplateEntry>["transitions"];
type LooseTransition = NonNullable<NonNullable<LooseTransitions>[number]>;
type LooseCondition = NonNullable<LooseTransition["condition"]>;

export function checkConditions(
  { transitions = [] }: { readonly transitions?: LooseTransitions },
  engine: typeof RE2JS,
): Finding[] {
  return transitions.flatMap((transition, index) => {
    if (transition?.condition === undefined) return [];
    const path = ["transitions", index, "condition"];
    return [
      ...checkParameters(transition.condition, path),
      ...checkPattern(transition.condition, path, engine),
      ...checkJoin(transition, path),
    ];
  });
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

function checkPattern({ type, pattern }: LooseCondition, path: Path, engine: typeof RE2JS): Finding[] {
  if (type !== "output_contains" && type !== "output_not_contains") return [];
  if (pattern === undefined || pattern === "") {
    const where = pattern === undefined ? path : [...path, "pattern"];
    return [doubtful(where, "an empty pattern is in every text", "Write what to look for, or use always.")];
  }
  try {
    engine.compile(pattern);
    return [];
  } catch (error) {
    const hint =
      "The syntax is that of RE2: no lookaround, no backreferences. To find ( as such, write \\\\(.";
    return [wrong([...path, "pattern"], `${quote(pattern)} is not a pattern: ${messageOf(error)}`, hint)];
  }
}

/** Several agents that have ended cannot be told to try again. */
function checkJoin({ from, condition }: LooseTransition, path: Path): Finding[] {
  if (condition?.type !== "convergence" || typeof from === "string" || (from?.length ?? 0) < 2) return [];
  const hint = "Join them with always, and let the agent after them converge.";
  return [wrong([...path, "type"], "convergence follows on one agent, and here are several", hint)];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
