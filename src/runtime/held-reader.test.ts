/** A program beside Cortex that reads the database and never ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";

import { event } from "../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import { MAX_WAL_FRAMES } from "../store/sqlite/checkpointer.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { checkDisk } from "../doctor/check-machine.ts";
import { databasePath } from "../config/home.ts";

const READER = `
  const db = new (require("better-sqlite3"))(process.argv[1], { readonly: true });
  db.exec("begin");
  db.prepare("select count(*) from event").get();
  console.log("reading");
  process.stdin.resume();`;

/** The log is not to be larger than this for long. */
const KEPT_BYTES = MAX_WAL_FRAMES * 8_192;
const EVENT_BYTES = 1_000_000;

test("a reader that is held open lets the write-ahead log grow, doctor names it, and the log shrinks when it ends", async () => {
  using home = temporaryFolder(memoryParent());
  const path = databasePath(home.path);
  mkdirSync(dirname(path), { recursive: true });
  await using store = await openSqliteStore({ path, clock: Date.now });
  let written = 0;
  const write = async (bytes: number): Promise<void> => {
    const content = "x".repeat(EVENT_BYTES);
    for (const end = written + bytes; written < end; written += EVENT_BYTES)
      await store.events.accept(event(`e${written}`, { content }));
  };
  const walBytes = (): number => statSync(`${path}-wal`).size;
  const findings = async () => (await checkDisk(home.path, KEPT_BYTES)).filter(({ name }) => name === "wal");

  const reader = spawn(process.execPath, ["-e", READER, path], {
    cwd: import.meta.dirname,
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    await once(reader.stdout, "data");
    await write(KEPT_BYTES + 2 * EVENT_BYTES);
    expect(walBytes()).toBeGreaterThan(KEPT_BYTES);
    const [found] = await findings();
    expect(found).toMatchObject({
      state: "warn",
      message: expect.stringMatching(/^The write-ahead log of the database has grown to \d+ MiB/),
      hint: expect.stringContaining("Stop that program"),
    });
    expect(found!.message).toContain(process.platform === "linux" ? `(process ${reader.pid})` : "MiB");
  } finally {
    reader.stdin.end();
    await once(reader, "exit");
  }
  await write(10 * EVENT_BYTES);
  expect(walBytes()).toBeLessThanOrEqual(KEPT_BYTES);
  expect(await findings()).toEqual([]);
});
