/** The thread that matches patterns. The main thread terminates it if it takes too long: see matcher.ts. */
import { parentPort } from "node:worker_threads";

import { CortexError } from "../model/errors.ts";
import { Compiler } from "./compile.ts";
import { type Job, READY, runJob } from "./jobs.ts";

if (parentPort === null) throw new Error("match-thread.ts runs only as a worker thread");
const port = parentPort;
const compiler = new Compiler();

port.on("message", (job: Job) => {
  try {
    port.postMessage({ result: runJob(job, compiler) });
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    port.postMessage({ refused: { message: error.message, hint: error.hint } });
  }
});

port.postMessage(READY);
