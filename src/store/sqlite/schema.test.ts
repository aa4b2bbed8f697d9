import { join } from "node:path";
import { expect, test } from "vitest";

import { openWarmStore } from "../../../test/support/open-store.ts";
import { testClock } from "../../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import type { DeliveryId } from "../../model/ids.ts";
import { openForWriting } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

/** Opens a database that the version with schema 18 has left with these rows. */
async function openUpdated(folder: string, rows: string) {
  const path = join(folder, "cortex.db");
  const db = openForWriting(path);
  migrate(
    db,
    MIGRATIONS.filter(({ version }) => version <= 18),
  );
  db.exec(rows);
  db.close();
  return openWarmStore({ path, clock: testClock() });
}

function scriptEvent(id: string): string {
  return `insert into event (id, at_ms, received_ms, channel, direction, content_type)
    values ('${id}', 0, 0, 'script', 'sent', 'text');`;
}

test.each([
  { last: "a mark", ids: ["0000000000000007:turn-a", "0000000000000012:watch"], position: 12 },
  { last: "a script", ids: ["0000000000000003:watch", "0000000000000012:turn-a:end"], position: 11 },
  { last: "nothing", ids: [], position: undefined },
])("an update keeps how far session scripts had come where $last was last", async ({ ids, position }) => {
  using folder = temporaryFolder(memoryParent());
  const rows = ids.map((id) => scriptEvent(`script:${id}`)).join("");
  await using store = await openUpdated(folder.path, `${rows}${scriptEvent("scripts:9")}`);
  expect(await store.cursors.get("job:session-scripts")).toBe(position);
});

test("an update keeps that old relays were imported, and watches no file for it any more", async () => {
  using folder = temporaryFolder(memoryParent());
  await using store = await openUpdated(
    folder.path,
    `insert into watched_file (path, modified_ms, size, sha256)
       values ('/notes/a.md', 1, 2, 'x'), ('relay-import:/home/data/threads.json', 1, 321, '');`,
  );
  expect(await store.cursors.get("job:relay-import")).toBe(321);
  expect(await store.cursors.list({ under: "file:" })).toEqual([
    { source: "file:/notes/a.md", value: { modifiedMs: 1, size: 2, sha256: "x" } },
  ]);
});

test("an update keeps what is indexed, and imports relays where they were never imported", async () => {
  using folder = temporaryFolder(memoryParent());
  await using store = await openUpdated(
    folder.path,
    `${scriptEvent("scripts:1")} update search_progress set seq = 1; ${scriptEvent("scripts:2")}`,
  );
  expect(await store.events.index(10)).toEqual({ indexed: 1, waiting: 0 });
  expect(await store.cursors.get("job:relay-import")).toBeUndefined();
});

test("an update keeps which chunk is sent again although it may have arrived", async () => {
  const delivery = (key: number, state: string, error: string): string => `
    insert into delivery (key, id, target, channel, account, place, content, state, due_ms, error, created_ms, settled_ms)
      values (${key}, 'd${key}', '${key}', 'test', 'main', 'here', 'ab', '${state}', 0, '${error}', 0,
        ${state === "dead" ? 1 : "null"});
    insert into chunk (delivery, place, content, state) values (${key}, 0, 'a', 'sent'), (${key}, 1, 'b', 'pending');`;
  using folder = temporaryFolder(memoryParent());
  await using store = await openUpdated(
    folder.path,
    delivery(1, "pending", "Message 2 may arrive twice. busy") +
      delivery(2, "dead", "Message 2 may arrive twice.") +
      delivery(3, "pending", "busy: Message 2 may arrive twice."),
  );
  const repeats = async (id: string): Promise<boolean[] | undefined> =>
    (await store.outbox.get(id as DeliveryId))?.chunks.map(({ isRepeat }) => isRepeat);
  expect(await repeats("d1")).toEqual([false, true]);
  expect(await repeats("d2")).toEqual([false, true]);
  expect(await repeats("d3")).toEqual([false, false]);
});
