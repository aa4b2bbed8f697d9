/** Matches patterns beside the main thread, which ends this one when it takes too long: see matcher.ts. */
import { parentPort } from "node:worker_threads";

import { CortexError } from "../model/errors.ts";
import { Compiler } from "./compile.ts";
import { type Job, work } from "./jobs.ts";
import { READY } from "./ready.ts";

const port = parentPort!;
const compiler = new Compiler();

port.on("message", (job: Job) => {
  try {
    port.postMessage({ answer: work(job, compiler) });
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    port.postMessage({ refused: { message: error.message, hint: error.hint } });
  }
});

port.postMessage(READY);
