/** The thread of warm-writer.ts: what src/store/sqlite/writer-thread.ts is, for one database after another. */
import { parentPort } from "node:worker_threads";

import { openBatchRunner } from "../../src/store/sqlite/batch-runner.ts";
import type { Batch, WriterData } from "../../src/store/sqlite/writer-protocol.ts";

const port = parentPort!;
let runner: ReturnType<typeof openBatchRunner>;

port.on("message", (message: WriterData | Batch | null) => {
  if (message === null) {
    runner.close();
    port.postMessage("closed");
  } else if ("path" in message) {
    runner = openBatchRunner(message.path, message.nowMs);
    port.postMessage("ready");
  } else {
    port.postMessage(runner.run(message));
    if (message.checkpoint) runner.checkpoint();
  }
});
