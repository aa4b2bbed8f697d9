/** What embedding programs and routes do with one session: fork it, walk its workers, end or answer its run. */
import type { Cortex } from "../feature/cortex.ts";
import type { Ports } from "../feature/ports.ts";
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import { forkLabel } from "../routing/resolve.ts";
import { MAX_PAGE, type StoredSession } from "../store/store.ts";

type SessionCalls = Pick<
  Cortex,
  "fork" | "getChildSessions" | "getParentSession" | "countChildSessions" | "abort" | "answer"
>;

export function sessionCalls({
  store,
  clock,
  mintId,
}: Pick<Ports, "store" | "clock" | "mintId">): SessionCalls {
  async function findSession(name: string): Promise<StoredSession> {
    const session = normalizeSessionKey(name);
    const found = await store.sessions.get(session);
    if (found !== undefined) return found;
    throw new CortexError("session_unknown", `Unknown session "${session}"`, {
      hint: "Run `cortex sessions` to list them.",
    });
  }
  return {
    fork: (turn, label) =>
      store.sessions.fork(turn, label === undefined ? forkLabel(mintId()) : normalizeSessionKey(label)),
    getChildSessions: async (session) =>
      store.sessions.children((await findSession(session)).key, { limit: MAX_PAGE }),
    async getParentSession(session) {
      const { parentSession } = await findSession(session);
      return parentSession === undefined ? undefined : store.sessions.get(parentSession);
    },
    countChildSessions: async (session) => (await findSession(session)).children,
    async abort(session) {
      const found = await findSession(session);
      const reason = "the owner asked for it";
      const aborted = found.run !== undefined && (await store.runs.requestAbort(found.run, reason));
      // What a turn has given away that is over goes on without it, and is meant too.
      const cancelled = await store.delegations.cancel(found.key, reason);
      return aborted || cancelled > 0;
    },
    async answer(run, result, ordinal) {
      const found = await store.runs.get(run);
      if (found?.wait === undefined) return false;
      const { calls } = found.wait.detail as { calls: readonly { ordinal: number }[] };
      const call = ordinal === undefined ? calls[0] : calls.find((waiting) => waiting.ordinal === ordinal);
      if (call === undefined) return false;
      return store.runs.resume(run, found.wait.id, [
        {
          kind: "result",
          ordinal: call.ordinal,
          status: result.isError === true ? "error" : "ok",
          result: result as unknown as Json,
          completedAtMs: clock(),
        },
      ]);
    },
  };
}
