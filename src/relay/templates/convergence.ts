/**
 * The meaning of the marker on a convergence edge. Such an edge can point in two directions.
 *
 * - Forward, `coder → reviewer`: with the marker, the relay continues with the reviewer; without it, the coder runs again.
 * - Back, `reviewer → coder`, where other rules lead from the coder to the reviewer: with the marker, the relay stops;
 *   without it, the coder runs again.
 */
import { type Endpoint, meansStep, printEndpoint, resolveStage } from "./endpoint.ts";
import type { RelayTemplate } from "./snapshot.ts";

/** With the marker: go to `to`, or stop. Without it: run `from` again, or go to `to`. */
export type Reading = "advance" | "stop";

/** How often an edge is taken without the marker, unless it sets `maxIterations`. */
export const DEFAULT_MAX_ITERATIONS = 3;

interface Edge {
  readonly from: readonly Endpoint[];
  readonly to: readonly Endpoint[];
  readonly condition: { readonly type: string; readonly onMarker?: Reading | undefined };
}

/** How one of the edges reads. `enter` gives the stage at which a step starts that an end leads to. */
export function readingOf(edge: Edge, edges: readonly Edge[], enter: (end: Endpoint) => Endpoint): Reading {
  const { from, to, condition } = edge;
  if (condition.onMarker !== undefined) return condition.onMarker;
  const others = edges.filter((other) => other !== edge);
  const returns = reach(to.map(enter), others, enter).some((step) =>
    from.some((source) => meansStep(source, step)),
  );
  return returns ? "stop" : "advance";
}

/** All steps that can follow, including the first ones. */
function reach(
  start: readonly Endpoint[],
  edges: readonly Edge[],
  enter: (end: Endpoint) => Endpoint,
): readonly Endpoint[] {
  const reached = new Map(start.map((step) => [printEndpoint(step), step]));
  // A map also yields entries that are added during the iteration.
  for (const step of reached.values()) {
    for (const { from, to } of edges) {
      if (!from.some((end) => meansStep(end, step))) continue;
      for (const next of to.map(enter)) reached.set(printEndpoint(next), next);
    }
  }
  return [...reached.values()];
}

interface ConvergenceReading {
  readonly transition: number;
  readonly reading: Reading;
  /** Whether the template sets `onMarker`; otherwise the reading is inferred. */
  readonly isStated: boolean;
  /** A sentence without a full stop. */
  readonly text: string;
}

/** The meaning of the marker on each convergence edge of a template, for people. */
export function convergenceReadings(template: RelayTemplate): ConvergenceReading[] {
  const { transitions } = template;
  const enter = entryTo(template);
  return transitions.flatMap((edge, index) => {
    const { from, to, condition } = edge;
    if (condition.type !== "convergence") return [];
    const reading = readingOf(edge, transitions, enter);
    const source = from.map(printEndpoint).join(", ");
    const target = to.map(printEndpoint).join(", ");
    const marker = condition.marker === undefined ? "the missing marker" : JSON.stringify(condition.marker);
    const limit = condition.maxIterations === 1 ? "once" : `${condition.maxIterations} times`;
    const meaning =
      reading === "advance"
        ? `${marker} leads to ${target}; without it ${source} runs again, at most ${limit} in total`
        : `${marker} ends the relay; without it ${target} runs, at most ${limit}`;
    const isStated = condition.onMarker !== undefined;
    return [{ transition: index, reading, isStated, text: `${source} → ${target}: ${meaning}` }];
  });
}

/** The stage at which a step starts that a rule leads to. */
export function entryTo({ agents }: Pick<RelayTemplate, "agents">): (end: Endpoint) => Endpoint {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  return ({ agent, stage }) => {
    const known = byName.get(agent);
    return { agent, stage: known === undefined ? stage : resolveStage(known, stage) };
  };
}
