import { readingOf, type Reading } from "../templates/convergence.ts";
import { printEndpoint } from "../templates/endpoint.ts";
import type { RelayTemplate } from "../templates/snapshot.ts";
import { entryTo } from "./transitions.ts";

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
