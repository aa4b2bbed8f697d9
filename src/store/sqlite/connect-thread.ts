import { Worker } from "node:worker_threads";

import { ownModule } from "../../model/own-files.ts";
import type { Batch, Reply, WriterConnection, WriterData } from "./writer-protocol.ts";

/** Starts the writer thread and waits until the database is open and migrated. */
export async function connectThread(data: WriterData): Promise<WriterConnection> {
  const thread = new Worker(ownModule("store/sqlite/writer-thread"), { workerData: data });
  await new Promise<void>((resolve, reject) => {
    thread.once("error", reject);
    thread.once("message", () => {
      thread.off("error", reject);
      resolve();
    });
  });
  return {
    post: (batch: Batch) => thread.postMessage(batch),
    onReply: (listener: (reply: Reply) => void) => void thread.on("message", listener),
    onEnd(listener: (cause: unknown) => void) {
      thread.on("error", listener);
      thread.on("exit", (code) => listener(new Error(`the writer thread exited with ${code}`)));
    },
    async close() {
      const gone = new Promise<void>((resolve) => thread.once("exit", () => resolve()));
      thread.postMessage(null);
      await gone;
    },
    async kill() {
      await thread.terminate();
    },
  };
}
