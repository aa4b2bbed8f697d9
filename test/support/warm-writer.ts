import { once } from "node:events";
import { Worker } from "node:worker_threads";

import type { Connect, Reply } from "../../src/store/sqlite/writer-protocol.ts";

const idle: Worker[] = [];

/** The writer in a thread that serves one store after another: to start a thread takes longer than most tests. */
export const connectWarmThread: Connect = async (data) => {
  const thread = idle.pop() ?? new Worker(new URL("warm-writer-thread.ts", import.meta.url));
  thread.ref();
  thread.postMessage(data);
  await once(thread, "message"); // an error rejects, and the thread is gone
  return {
    post: (batch) => thread.postMessage(batch),
    onReply: (listener) => void thread.on("message", (reply: Reply) => listener(reply)),
    onEnd(listener) {
      thread.on("error", listener);
      thread.on("exit", (code) => listener(new Error(`the writer thread exited with ${code}`)));
    },
    async close() {
      for (const name of ["message", "error", "exit"]) thread.removeAllListeners(name);
      thread.postMessage(null);
      // The answer to a last batch may come first: the next store must not take what is left for its own.
      while ((await once(thread, "message"))[0] !== "closed") continue;
      thread.unref();
      idle.push(thread);
    },
    async kill() {
      await thread.terminate();
    },
  };
};
