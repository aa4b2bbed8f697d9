/** The writer thread: see batch-runner.ts. */
import { parentPort, workerData } from "node:worker_threads";

import { openBatchRunner } from "./batch-runner.ts";
import type { Batch, WriterData } from "./writer-protocol.ts";

const { path, nowMs } = workerData as WriterData;
const port = parentPort!;
const runner = openBatchRunner(path, nowMs);

port.on("message", (batch: Batch | null) => {
  if (batch === null) {
    runner.close();
    port.close();
    return;
  }
  port.postMessage(runner.run(batch));
  // Copies the small rest that the checkpointer left, after the reply, so that no call waits for it.
  if (batch.checkpoint) runner.checkpoint();
});
port.postMessage("ready");
