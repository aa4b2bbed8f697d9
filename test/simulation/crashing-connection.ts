import { openBatchRunner } from "../../src/store/sqlite/batch-runner.ts";
import type { Connect, Reply } from "../../src/store/sqlite/writer-protocol.ts";

/** The writer in the same thread, so that a seed always gives the same run, dying before a batch when it is told to. */
export function crashingConnection(dies: () => boolean): Connect {
  return async ({ path, nowMs }) => {
    const runner = openBatchRunner(path, nowMs);
    let reply: (reply: Reply) => void = () => {};
    let end: (cause: unknown) => void = () => {};
    let open = true;
    const close = async (): Promise<void> => {
      if (open) runner.close();
      open = false;
    };
    return {
      onReply: (listener) => void (reply = listener),
      onEnd: (listener) => void (end = listener),
      post(batch) {
        const answer = dies() ? undefined : runner.run(batch);
        setImmediate(() => (answer === undefined ? end(new Error("the writer died")) : reply(answer)));
      },
      close,
      kill: close,
    };
  };
}
