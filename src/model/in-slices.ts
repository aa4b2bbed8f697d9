import { setImmediate } from "node:timers/promises";

/** How long work may go on before others get their turn. */
const SLICE_MS = 10;

/**
 * Work on a long text that stops now and then, by a yield, so that it can be paused there. It should do so at least
 * every millisecond; a yield costs next to nothing.
 */
export type Sliced<Result> = Generator<undefined, Result>;

/** Does the work, and gives others their turn whenever it has gone on for long. */
export async function inSlices<Result>(work: Sliced<Result>): Promise<Result> {
  let begunMs = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() - begunMs < SLICE_MS) continue;
    await setImmediate();
    begunMs = performance.now();
  }
}

/** The lines of a text, as `split` has them, one at a time. */
export function* linesOf(text: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}
