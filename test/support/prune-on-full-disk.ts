/** Prunes a home on a small disk that is nearly full: it is refused, and the room that was left stays. */
import { ok, rejects } from "node:assert";
import { statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { databasePath } from "../../src/config/home.ts";
import { pruneHome } from "../../src/keep/prune.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { event } from "./sample.ts";

const disk = process.argv[2]!;
const room = (): number => statfsSync(disk).bavail * statfsSync(disk).bsize;
{
  await using store = await openSqliteStore({ path: databasePath(disk), clock: () => 0 });
  for (let i = 0; i < 20; i++) await store.events.accept(event(`e${i}`, { content: "x".repeat(50_000) }));
}
writeFileSync(join(disk, "ballast"), Buffer.alloc(room() - 500_000));
const before = room();
const nowMs = Date.now();
await rejects(pruneHome(disk, { beforeMs: Math.floor(nowMs / 2), nowMs }), {
  code: "store_full",
  message: /Not enough disk space to prune/,
});
ok(room() >= before - 100_000, `${before} bytes were free, now ${room()}`);
