import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";

import { event, testClock } from "../../../test/support/sample.ts";
import { canMountSmallDisk, runOnSmallDisk } from "../../../test/support/small-disk.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import { openForWriting } from "./connection.ts";
import { copiesOf, copyDatabase, KEPT_COPY_MS } from "./copy-database.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const NEWEST = MIGRATIONS.at(-1)!.version;

function open(path: string) {
  return openSqliteStore({ path, clock: testClock() });
}

/** A database as a Cortex of some time ago left it, with one event. */
function writeOldDatabase(path: string): void {
  const db = openForWriting(path);
  migrate(db, MIGRATIONS.slice(0, 5));
  db.exec(`insert into event (id, at_ms, received_ms, channel, direction, content, content_type)
    values ('test:old', 1, 1, 'test', 'received', 'old words', 'text')`);
  db.close();
}

function read(path: string): { version: unknown; events: unknown[] } {
  const db = new Database(path, { readonly: true });
  const version = db.pragma("user_version", { simple: true });
  const events = db.prepare("select content from event").pluck().all();
  db.close();
  return { version, events };
}

describe("a copy that is asked for", () => {
  test("holds what is committed, beside the one that writes", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    await using store = await open(path);
    await store.events.accept(event("a", { content: "said" }));
    const copy = join(folder.path, "copy.db");
    copyDatabase(path, copy);
    await store.events.accept(event("b", { content: "later" }));
    expect(read(copy)).toEqual({ version: NEWEST, events: ["said"] });
  });

  test("takes the place of one that was cut off, and never touches what it copies", () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    writeOldDatabase(path);
    const copy = join(folder.path, "copy.db");
    writeFileSync(copy, "half a cop");
    copyDatabase(path, copy);
    expect(read(copy)).toEqual({ version: 5, events: ["old words"] });
    expect(read(path).version).toBe(5);
  });

  test("says what is not there, and what is no database of ours", () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    const copy = join(folder.path, "copy.db");
    const refused = (code: string) => expect.objectContaining({ name: "CortexError", code });
    expect(() => copyDatabase(path, copy)).toThrow(refused("store_missing"));
    writeFileSync(path, "a shopping list ".repeat(1_000));
    expect(() => copyDatabase(path, copy)).toThrow(refused("store_corrupt"));
    expect(readdirSync(folder.path)).toEqual(["cortex.db"]);
  });
});

describe("a schema that changes", () => {
  test("leaves a copy of what was there for a week, however often it is started", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    writeOldDatabase(path);
    const clock = testClock();
    const start = async (): Promise<void> => {
      await (await openSqliteStore({ path, clock }))[Symbol.asyncDispose]();
    };
    await start();
    clock.advance(KEPT_COPY_MS - 1);
    await start();
    const copy = `${path}.before-${NEWEST}`;
    expect(copiesOf(path)).toEqual([copy]);
    expect(read(copy)).toEqual({ version: 5, events: ["old words"] });
    expect(read(path)).toEqual({ version: NEWEST, events: ["old words"] });
    clock.advance(1);
    await start();
    expect(copiesOf(path)).toEqual([]);
  });

  test("leaves no copy of what is to be forgotten", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    writeOldDatabase(path);
    await using store = await open(path);
    expect(copiesOf(path)).toHaveLength(1);
    await store.forgetPruned();
    expect(copiesOf(path)).toEqual([]);
  });

  test("is not held up by a start that was killed while it copied", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    writeOldDatabase(path);
    writeFileSync(`${path}.before-${NEWEST}.unfinished`, "half a cop");
    await (await open(path))[Symbol.asyncDispose]();
    expect(copiesOf(path)).toEqual([`${path}.before-${NEWEST}`]);
  });

  test(
    "killed at any moment, is done by the next start, and the copy is whole",
    { timeout: 120_000 },
    async () => {
      const support = (name: string) => new URL(`../../../test/support/${name}`, import.meta.url);
      const args = ["--import", support("die-before-write.ts").href, fileURLToPath(support("opener.ts"))];
      for (let writes = 1, isAtEnd = false; !isAtEnd; writes++) {
        using folder = temporaryFolder(memoryParent());
        const path = join(folder.path, "cortex.db");
        writeOldDatabase(path);
        const env = { ...process.env, DIE_BEFORE_WRITE: String(writes) };
        const { signal, stderr } = spawnSync(process.execPath, [...args, path], {
          env,
          input: "",
          encoding: "utf8",
        });
        expect(stderr).toBe("");
        isAtEnd = signal !== "SIGKILL";
        const copy = `${path}.before-${NEWEST}`;
        const old = { version: 5, events: ["old words"] };
        expect(existsSync(copy) ? read(copy) : old).toEqual(old);
        await (await open(path))[Symbol.asyncDispose]();
        expect(read(path)).toEqual({ version: NEWEST, events: ["old words"] });
      }
    },
  );

  test("makes no copy of a database that is new or is up to date", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    for (let start = 0; start < 2; start++) {
      await (await open(path))[Symbol.asyncDispose]();
      expect(copiesOf(path)).toEqual([]);
    }
  });

  test.runIf(canMountSmallDisk())(
    "changes nothing where there is no room for the copy, and says so",
    async () => {
      const program = new URL("../../../test/support/update-on-full-disk.ts", import.meta.url);
      const { said, code } = await runOnSmallDisk("4m", program);
      expect(said).toMatch(/Not enough disk space .*\n.*then it was updated/);
      expect(code).toBe(0);
    },
  );

  test("leaves other files beside the database alone", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    const mine = `${path}.before-the-holidays`;
    writeFileSync(mine, "mine");
    for (let start = 0; start < 2; start++) await (await open(path))[Symbol.asyncDispose]();
    expect(existsSync(mine)).toBe(true);
  });
});
