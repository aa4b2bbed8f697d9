/** Copies the write-ahead log into the database while the writer works: see checkpointer.ts. */
import { parentPort, workerData } from "node:worker_threads";

import { copyLog, openForWriting } from "./connection.ts";

const db = openForWriting(workerData as string);
const port = parentPort!;

port.on("message", () => {
  copyLog(db);
  port.postMessage("done");
});
