/**
 * Looks at what a hook exports, in the process that has loaded it: reading patterns and schedules takes more memory than
 * all else that hooks need of the main process, and most hooks are only to be known, not to be asked.
 */
import type { Json } from "../../model/json.ts";
import { compileFilter } from "../judge/filter.ts";
import type { Exported, Inspected } from "./lane-protocol.ts";
import { filterOfTriggers } from "./triggers.ts";

export async function inspectHook(exported: Exported): Promise<Inspected> {
  // As it will be kept: a date is a text by then, and a function is not there.
  const { triggers, filter: own, ...facts } = JSON.parse(JSON.stringify(exported)) as Exported;
  try {
    const filter = filterOfTriggers(triggers, own);
    const { match } = compileFilter(filter);
    // In this process, which is ended where it takes too long.
    if (match !== undefined) (await import("../../patterns/compile.ts")).compilePattern(match);
    return { ...facts, ...(filter === undefined || filter === null ? {} : { filter: filter as Json }) };
  } catch (error) {
    return { ...facts, problem: (error as Error).message };
  }
}
