/**
 * What a marker means on a convergence edge. People write such an edge in two ways.
 *
 * - Forward, `coder → reviewer`: the marker says that the coder is done and the relay goes on; without it the coder
 *   runs again.
 * - Back, `reviewer → coder`, where other rules lead from the coder to the reviewer: the marker says that all is done
 *   and the relay stops; without it the coder runs again.
 */
import { type Endpoint, meansStep, printEndpoint } from "./endpoint.ts";

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
