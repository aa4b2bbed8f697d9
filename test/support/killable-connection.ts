import type { Connect } from "../../src/store/sqlite/writer-protocol.ts";
import { connectWarmThread } from "./warm-writer.ts";

/** The writer thread, of which nothing is heard once it is killed: an answer on its way dies with a process too. */
export const killableConnection: Connect = async (data) => {
  const connection = await connectWarmThread(data);
  let killed = false;
  return {
    ...connection,
    onReply: (listener) =>
      connection.onReply((reply) => {
        if (!killed) listener(reply);
      }),
    kill() {
      killed = true;
      return connection.kill();
    },
  };
};
