/** Prunes a home and is killed when it has asked for so many steps, with the last of them under way. */
import { databasePath } from "../../src/config/home.ts";
import { pruneStore } from "../../src/keep/prune.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

const [home, steps, before] = process.argv.slice(2) as [string, string, string];
await using store = await openSqliteStore({ path: databasePath(home), clock: Date.now });
let left = Number(steps);
await pruneStore(
  {
    events: store.events,
    outbox: store.outbox,
    forgetPruned: () => store.forgetPruned(),
    async prune(kind, request) {
      const step = store.prune(kind, { ...request, max: 20 });
      if (--left === 0) process.kill(process.pid, "SIGKILL");
      return step;
    },
  },
  { home, beforeMs: Number(before), nowMs: Date.now() },
);
