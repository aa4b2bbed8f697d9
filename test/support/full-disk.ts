/** Fills a small disk through the store, makes room again, and checks what was acknowledged. */
import { ok, strictEqual } from "node:assert";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { CortexError } from "../../src/model/errors.ts";
import type { EventId } from "../../src/model/ids.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { dispatch, event, toSession } from "./sample.ts";

const disk = process.argv[2]!;
const ballast = join(disk, "ballast");
writeFileSync(ballast, Buffer.alloc(Number(process.argv[3]) * 1024 * 1024));
await using store = await openSqliteStore({ path: join(disk, "cortex.db"), clock: Date.now });

const acknowledged: EventId[] = [];
let failure: unknown;
for (let i = 0; i < 10_000 && failure === undefined; i++) {
  const sample = event(`e${i}`, { content: "x".repeat(50_000) });
  try {
    await store.events.accept(sample, { dispatch: dispatch(`e${i}`, toSession("work")) });
    acknowledged.push(sample.id);
  } catch (error) {
    failure = error;
  }
}
ok(failure instanceof CortexError, String(failure));
strictEqual(failure.code, "store_full");
ok(failure.transient);
for (const id of acknowledged) ok(await store.events.get(id), `${id} is lost`);
console.log(`full after ${acknowledged.length} events: ${failure.message}`);

rmSync(ballast);
const late = event("late");
await store.events.accept(late, { dispatch: dispatch("late", toSession("work")) });
for (const id of [...acknowledged, late.id]) ok(await store.events.get(id), `${id} is lost`);
const [claim] = await store.queue.lease({ holder: "test", ttlMs: 1_000 }, 1);
ok(claim !== undefined);
console.log("after room was made: ok");
