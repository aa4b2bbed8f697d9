/**
 * What a marker means on a convergence edge. People write such an edge in two ways.
 *
 * - Forward, `coder → reviewer`: the marker says that the coder is done and the relay goes on; without it the coder
 *   runs again.
 * - Back, `reviewer → coder`, where other rules lead from the coder to the reviewer: the marker says that all is done
 *   and the relay stops; without it the coder runs again.
 */
import { type Endpoint, meansStep, printEndpoint, resolveStage } from "./endpoint.ts";
import type { RelayTemplate } from "./snapshot.ts";

/** With the marker: go to `to`, or stop. Without it: run `from` again, or go to `to`. */
export type Reading = "advance" | "stop";

/** How often an edge is taken without the marker unless its `maxIterations` says otherwise. */
export const DEFAULT_MAX_ITERATIONS = 3;

interface Edge {
  readonly from: readonly Endpoint[];
  readonly to: readonly Endpoint[];
  readonly condition: { readonly type: string; readonly onMarker?: Reading | undefined };
}

/**
 * How the edge at `index` reads. `enter` says which stage a step runs that an end leads to; where it is not known,
 * an end without a stage has none.
 */
export function readingOf(
  edges: readonly Edge[],
  index: number,
  enter: (end: Endpoint) => Endpoint = (end) => end,
): Reading {
  const { from, to, condition } = edges[index]!;
  if (condition.onMarker !== undefined) return condition.onMarker;
  const others = edges.filter((_, at) => at !== index);
  const returns = reach(to.map(enter), others, enter).some((step) =>
    from.some((source) => meansStep(source, step)),
  );
  return returns ? "stop" : "advance";
}

/** The steps that can follow, those to begin with among them. */
function reach(
  start: readonly Endpoint[],
  edges: readonly Edge[],
  enter: (end: Endpoint) => Endpoint,
): readonly Endpoint[] {
  const reached = new Map(start.map((step) => [printEndpoint(step), step]));
  // A map yields what is added while it is walked through.
  for (const step of reached.values()) {
    for (const { from, to } of edges) {
      if (!from.some((end) => meansStep(end, step))) continue;
      for (const next of to.map(enter)) reached.set(printEndpoint(next), next);
    }
  }
  return [...reached.values()];
}

export interface ConvergenceReading {
  readonly transition: number;
  readonly reading: Reading;
  /** Whether the template says so, and it is not found by where its transitions lead. */
  readonly isStated: boolean;
  /** A sentence without a full stop. */
  readonly text: string;
}

/** What the marker means on each convergence edge of a template, for people who want to be sure. */
export function convergenceReadings(template: RelayTemplate): ConvergenceReading[] {
  const { transitions } = template;
  const enter = entryTo(template);
  return transitions.flatMap(({ from, to, condition }, index) => {
    if (condition.type !== "convergence") return [];
    const reading = readingOf(transitions, index, enter);
    const source = from.map(printEndpoint).join(", ");
    const target = to.map(printEndpoint).join(", ");
    const marker =
      condition.marker === undefined ? "the marker that is missing" : JSON.stringify(condition.marker);
    const limit = condition.maxIterations === 1 ? "once" : `${condition.maxIterations} times`;
    const meaning =
      reading === "advance"
        ? `${marker} leads on to ${target}; without it ${source} runs again, at most ${limit} in all`
        : `${marker} ends the relay; without it ${target} runs, at most ${limit}`;
    const isStated = condition.onMarker !== undefined;
    return [{ transition: index, reading, isStated, text: `${source} → ${target}: ${meaning}` }];
  });
}

/** The stage at which a step begins that a rule leads to. */
export function entryTo({ agents }: Pick<RelayTemplate, "agents">): (end: Endpoint) => Endpoint {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  return ({ agent, stage }) => {
    const known = byName.get(agent);
    return { agent, stage: known === undefined ? stage : resolveStage(known, stage) };
  };
}
