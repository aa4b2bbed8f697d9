/** Copies the write-ahead log into the database, beside the writer: see checkpointer.ts. */
import { parentPort, workerData } from "node:worker_threads";

import { openForWriting } from "./connection.ts";

const db = openForWriting(workerData as string);
const port = parentPort!;

port.on("message", () => {
  db.pragma("wal_checkpoint(passive)");
  port.postMessage("done");
});
