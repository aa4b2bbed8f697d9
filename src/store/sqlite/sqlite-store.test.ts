/** What SQLite adds to the store's contract: files, locks, schemas, and what a disk can do to us. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";

import {
  alice,
  delivery,
  dispatch,
  event,
  message,
  session,
  START_MS,
  testClock,
  toSession,
  turnFor,
} from "../../../test/support/sample.ts";
import { crashingConnection } from "../../../test/simulation/crashing-connection.ts";
import { canMountSmallDisk, runOnSmallDisk } from "../../../test/support/small-disk.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import type { DelegationId, EventId, ItemId, TurnId } from "../../model/ids.ts";
import { type Claim, KEPT_CHANGES } from "../store.ts";
import { CHECKPOINT_FRAMES, MAX_WAL_FRAMES } from "./checkpointer.ts";
import { openForWriting } from "./connection.ts";
import { checkDatabase, migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";
import { TRIM_STEP } from "./record-changes.ts";
import { openSqliteLedger } from "./sqlite-ledger.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";
import type { Batch, Connect } from "./writer-protocol.ts";
import { MAX_BATCH_BYTES, MAX_BATCH_OPERATIONS, MAX_QUEUED_BYTES, MAX_QUEUED_OPERATIONS } from "./writer.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

function open(path: string): Promise<SqliteStore> {
  return openSqliteStore({ path, clock: testClock() });
}

async function begin(store: SqliteStore, name: string): Promise<Claim> {
  const work = { dispatch: dispatch(name, toSession("work")), claim: alice };
  return (await store.events.accept(event(name), work)).dispatched!.claim!;
}

describe("one writer", () => {
  test("a second opening of the same database is refused and names the process that has it", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    await using first = await open(path);
    await expect(open(path)).rejects.toEqual(refusal("store_locked"));
    await expect(open(path)).rejects.toThrow(`Process ${process.pid}, up since 20`);
    await first.events.accept(event("a")); // which does not hurt the one that has it
  });

  test("a store that was closed can be opened again, and leaves no lock behind", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    await (await open(path))[Symbol.asyncDispose]();
    expect(readdirSync(folder.path)).toEqual(["cortex.db", "cortex.db.mutex"]);
    await (await open(path))[Symbol.asyncDispose]();
  });

  test.each([
    ["of a process that no longer runs", JSON.stringify({ pid: 2 ** 22 + 1, started: "x" })],
    [
      "of an earlier process with the same id",
      JSON.stringify({ pid: process.pid, started: "another boot:1" }),
    ],
    ["that is no lock at all", "half a li"],
    ["that is empty", ""],
    ["that says nothing", "null"],
  ])("a lock %s is taken over", async (_title, text) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    writeFileSync(`${path}.lock`, text);
    await using store = await open(path);
    await store.events.accept(event("a"));
    expect(JSON.parse(readFileSync(`${path}.lock`, "utf8"))).toMatchObject({ pid: process.pid });
  });

  test("of many processes that find a dead owner, one takes its place", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, startedAt: "x" }));
    const openers = Array.from({ length: 4 }, () => startOpener(path));
    const said = await Promise.all(openers.map((opener) => opener.firstLine));
    for (const opener of openers) opener.release();
    await Promise.all(openers.map((opener) => opener.end));
    expect(said.map((line) => line.trim().split(" ")[0]!).toSorted((a, b) => a.localeCompare(b))).toEqual([
      "opened",
      "store_locked",
      "store_locked",
      "store_locked",
    ]);
  });

  test("what a crashed process had in hand is ready at the next start, counted as an interruption", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    const before = await open(path);
    const claim = await begin(before, "a");
    await before.crash();
    await using after = await open(path);
    expect(await after.queue.lease(alice, 10)).toMatchObject([
      { run: claim.run, turn: claim.turn, interruptions: 1 },
    ]);
  });

  test("a writer that dies fails the calls under way as unknown, and every later one", async () => {
    using folder = temporaryFolder(memoryParent());
    const store = await open(join(folder.path, "cortex.db"));
    const [outcome] = await Promise.allSettled([store.events.accept(event("a")), store.crash()]);
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: { code: "store_writer_lost", transient: true },
    });
    await expect(store.events.accept(event("b"))).rejects.toEqual(refusal("store_writer_lost"));
  });
});

describe("schema", () => {
  test("a database of a newer Cortex is refused and left as it is", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    await (await open(path))[Symbol.asyncDispose]();
    const db = new Database(path);
    db.pragma("user_version = 999");
    db.close();
    const before = readFileSync(path);
    await expect(open(path)).rejects.toEqual(refusal("store_newer"));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("a database of another program is refused and left as it is", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    const db = new Database(path);
    db.exec("create table notes (text)");
    db.close();
    const before = readFileSync(path);
    await expect(open(path)).rejects.toEqual(refusal("store_foreign"));
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder.path)).toEqual(["cortex.db"]);
  });

  test.each(["", "-wal", "-shm", ".mutex"])(
    "a link in place of cortex.db%s is refused, and nothing is written to where it leads",
    async (suffix) => {
      using folder = temporaryFolder();
      using elsewhere = temporaryFolder();
      const path = join(folder.path, "cortex.db");
      await (await open(path))[Symbol.asyncDispose]();
      const target = join(elsewhere.path, "target");
      if (suffix === "") renameSync(path, target);
      else writeFileSync(target, "");
      rmSync(`${path}${suffix}`, { force: true });
      symlinkSync(target, `${path}${suffix}`);
      const before = readFileSync(target);
      await expect(open(path)).rejects.toEqual(refusal("file_unsafe"));
      await expect(openSqliteLedger({ path })).rejects.toEqual(refusal("file_unsafe"));
      expect(readFileSync(target).equals(before)).toBe(true);
      expect(readdirSync(elsewhere.path)).toEqual(["target"]);
    },
  );

  test("a home behind a link, and data on another disk, are used as ever", async () => {
    using folder = temporaryFolder();
    using disk = temporaryFolder();
    symlinkSync(disk.path, join(folder.path, "data"));
    await using _ = await open(join(folder.path, "data", "cortex.db"));
    expect(readdirSync(disk.path)).toContain("cortex.db");
  });

  test("a database of another program that has a write-ahead log is left as it is too", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    using foreign = writeForeignLog(path);
    const before = [readFileSync(path), readFileSync(`${path}-wal`)];
    await expect(open(path)).rejects.toEqual(refusal("store_foreign"));
    expect([readFileSync(path), readFileSync(`${path}-wal`)]).toEqual(before);
    expect(foreign.rows()).toBe(1);
  });

  test.each([
    ["text", Buffer.from("this is no database, but it is long enough to look at. ".repeat(100))],
    ["noise", Buffer.alloc(8_192, 0xa5)],
  ])("a file of %s is refused and left as it is", async (_title, content) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    writeFileSync(path, content);
    await expect(open(path)).rejects.toEqual(refusal("store_corrupt"));
    expect(readFileSync(path).equals(content)).toBe(true);
  });

  test("a database with a damaged page says so when it is read", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    const store = await open(path);
    for (let i = 0; i < 50; i++) await store.events.accept(event(`e${i}`, { content: "x".repeat(2_000) }));
    await store[Symbol.asyncDispose]();
    const bytes = readFileSync(path);
    const page = tableRoot(path, "event");
    bytes.fill(0xff, (page - 1) * 8_192, page * 8_192);
    writeFileSync(path, bytes);
    await expect(readDamaged(path)).rejects.toEqual(refusal("store_corrupt"));
  });

  test("a migration that fails changes nothing", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    const db = openForWriting(path);
    migrate(db);
    const newest = MIGRATIONS.at(-1)!.version;
    const version = newest + 1;
    const failing = { version, sql: "create table extra (a); create table event (a);" };
    const fine = { version, sql: "create table fine (a)" };
    expect(() => migrate(db, [...MIGRATIONS, failing])).toThrow("already exists");
    expect(() => migrate(db, [...MIGRATIONS, fine, { ...failing, version: version + 1 }])).toThrow(
      "already exists",
    );
    expect(db.pragma("user_version", { simple: true })).toBe(newest);
    expect(db.prepare("select name from sqlite_schema where name in ('extra', 'fine')").all()).toEqual([]);

    migrate(db, [...MIGRATIONS, { version, sql: "create table extra (a)" }]);
    expect(db.pragma("user_version", { simple: true })).toBe(version);
    expect(() => checkDatabase(db, path)).toThrow(`supports schemas up to ${newest}`);
    db.close();
  });

  test("a database from before there were delegations keeps what is in it, and work is given there", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    const db = openForWriting(path);
    migrate(db, MIGRATIONS.slice(0, 7));
    db.exec(`
      insert into event (seq, id, at_ms, received_ms, channel, direction, content, content_type)
        values (1, 'test:old', 0, 0, 'test', 'received', 'old', 'text');
      insert into session (key, label, agent, persona, ready_ms, created_ms, used_ms)
        values (1, 'old', 'main', 'atlas', 0, 0, 0);
      insert into item (id, event, session, mode, state, due_ms, queued_ms)
        values ('item-old', 1, 1, 'followup', 'queued', 0, 0);`);
    db.close();
    await using store = await open(path);
    expect(await store.sessions.get(session("old"))).toMatchObject({ worker: undefined, children: 0 });
    const [old] = await store.queue.lease(alice, 1);
    const delegation = { id: "d" as DelegationId, turn: old!.turn, ordinal: 0, waits: true };
    const given = await store.events.accept(event("a"), {
      dispatch: dispatch("a", toSession("new"), { from: session("old"), delegation }),
      claim: alice,
    });
    await store.turns.commit(turnFor(given.dispatched!.claim!));
    expect(await store.delegations.unreported()).toMatchObject([{ id: "d", state: "done" }]);
    await store.turns.commit(turnFor(old!));
    expect((await store.queue.outcome("item-old" as ItemId))!.state).toBe("done");
  });

  test("a view that was edited is made anew at the next start", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    await (await open(path))[Symbol.asyncDispose]();
    const db = new Database(path);
    db.exec("drop view events; create view events as select 'old' as id");
    db.close();
    await using store = await open(path);
    await store.events.accept(event("a"));
    expect(await store.query("select id from events")).toEqual([{ id: "test:a" }]);
  });

  test("the database is written with full synchronisation and checked references", () => {
    using folder = temporaryFolder();
    const db = openForWriting(join(folder.path, "cortex.db"));
    expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
    expect(db.pragma("synchronous", { simple: true })).toBe(2); // FULL
    expect(db.pragma("foreign_keys", { simple: true })).toBe(1);
    db.close();
  });
});

describe("limits", () => {
  test("new work is refused while too much waits to be written, and work under way is not", async () => {
    using folder = temporaryFolder(memoryParent());
    await using store = await open(join(folder.path, "cortex.db"));
    const claim = await begin(store, "first");
    const flood = Array.from({ length: MAX_QUEUED_OPERATIONS + 100 }, (_, i) =>
      store.events.accept(event(`e${i}`)),
    );
    const commit = store.turns.commit(turnFor(claim));
    const settled = await Promise.allSettled(flood);
    const refused = settled.filter((each) => each.status === "rejected");
    expect(refused).toHaveLength(100);
    expect(refused[0]).toMatchObject({ reason: { code: "store_busy", transient: true } });
    await commit;
    await store.events.accept(event("later"));
  });

  test("a batch is bounded in operations and in bytes", async () => {
    using folder = temporaryFolder(memoryParent());
    const batches: { operations: number; characters: number }[] = [];
    const connect: Connect = async (data) => {
      const connection = await crashingConnection(() => false)(data);
      const post = (batch: Batch): void => {
        const texts = batch.cells.filter((cell) => typeof cell === "string");
        batches.push({
          operations: texts.filter((cell) => /^test:e\d+$/.test(cell)).length,
          characters: texts.reduce((sum, cell) => sum + cell.length, 0),
        });
        connection.post(batch);
      };
      return { ...connection, post };
    };
    await using store = await openSqliteStore({
      path: join(folder.path, "cortex.db"),
      clock: testClock(),
      connect,
    });
    const content = "x".repeat(50_000);
    await Promise.all([
      ...Array.from({ length: 1_200 }, (_, i) => store.events.accept(event(`e${i}`))),
      ...Array.from({ length: 100 }, (_, i) => store.events.accept(event(`e${2_000 + i}`, { content }))),
    ]);
    expect(Math.max(...batches.map(({ operations }) => operations))).toBe(MAX_BATCH_OPERATIONS);
    expect(Math.max(...batches.map(({ characters }) => characters))).toBeLessThan(MAX_BATCH_BYTES + 60_000);
    expect(batches.reduce((sum, { operations }) => sum + operations, 0)).toBe(1_300);
  });

  test("what waits to be written is bounded in bytes too", async () => {
    using folder = temporaryFolder(memoryParent());
    await using store = await open(join(folder.path, "cortex.db"));
    const content = "x".repeat(1_000_000);
    const fits = Math.floor(MAX_QUEUED_BYTES / 1_000_100);
    const flood = Array.from({ length: fits + 5 }, (_, i) =>
      store.events.accept(event(`e${i}`, { content })),
    );
    const refused = (await Promise.allSettled(flood)).filter((each) => each.status === "rejected");
    expect(refused.length).toBeGreaterThanOrEqual(4);
    expect(refused[0]).toMatchObject({ reason: { code: "store_busy" } });
  });

  test("the write-ahead log stays bounded under a long flood", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    await using store = await open(path);
    const content = "x".repeat(20_000);
    let largest = 0;
    for (let round = 0; round < 40; round++) {
      const flood = Array.from({ length: 200 }, (_, i) =>
        store.events.accept(event(`${round}-${i}`, { content })),
      );
      await Promise.all(flood);
      largest = Math.max(largest, statSync(`${path}-wal`).size);
    }
    // 160 MB went through it. The batch that is under way when the log is full still goes in.
    const batchFrames = 200 * 4;
    expect(largest).toBeLessThan((MAX_WAL_FRAMES + CHECKPOINT_FRAMES + batchFrames) * 8_300);
  });
});

describe("texts", () => {
  test("half an emoji is stored as something that can be read back, hashed and written again", async () => {
    using folder = temporaryFolder(memoryParent());
    await using store = await open(join(folder.path, "cortex.db"));
    const claim = await begin(store, "a");
    const cut = message("m0", "user", "cut \ud83d");
    const entry = { kind: "message" as const, place: 0, message: { ...cut, body: ["\ude00"] } };
    await store.runs.journal(claim.lease, claim.run, [entry]);
    await store.runs.journal(claim.lease, claim.run, [entry]);
    const last = message(claim.turn, "assistant", "\udc00 done");
    await store.turns.commit({ ...turnFor(claim), messages: [last] });
    expect(await store.verify()).toEqual({ ok: true, turns: 1, pruned: 0, audited: 0 });
    expect((await store.turns.read(claim.turn))!.messages[0]!.content).toBe("cut \ufffd");
  });

  test("a zero character survives", async () => {
    using folder = temporaryFolder(memoryParent());
    await using store = await open(join(folder.path, "cortex.db"));
    await store.events.accept(event("a", { content: "a\0b" }));
    expect(await store.events.get("test:a" as EventId)).toMatchObject({ content: "a\0b" });
  });
});

describe("the chain of the audit log", () => {
  test.each([
    ["an entry is changed", "update audit_entry set principal = 'mallory' where seq = 2", 2],
    ["a detail is changed", 'update audit_entry set detail = \'{"tool":"Read"}\' where seq = 2', 2],
    ["a detail is no JSON any more", "update audit_entry set detail = '{' where seq = 2", 2],
    ["a time is changed", "update audit_entry set at_ms = at_ms + 1 where seq = 3", 3],
    ["a hash is changed", "update audit_entry set hash = zeroblob(32) where seq = 1", 1],
    ["an entry is removed", "delete from audit_entry where seq = 2", 2],
    ["the last entries are removed", "delete from audit_entry where seq > 1", 2],
    [
      "two entries change places",
      `update audit_entry set seq = -3 where seq = 3; update audit_entry set seq = 3 where seq = 2;
       update audit_entry set seq = 2 where seq = -3`,
      2,
    ],
  ])("%s, and verify names the first entry", async (_title, forgery, entry) => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    await using store = await open(path);
    for (const object of ["a", "b", "c"])
      await store.audit.append({ principal: "owner", kind: "login", object, detail: { tool: "Bash" } });
    expect(await store.verify()).toMatchObject({ ok: true, audited: 3 });
    const db = new Database(path);
    db.exec(forgery);
    db.close();
    expect(await store.verify()).toMatchObject({ ok: false, entry });
  });
});

describe("the hash chain", () => {
  test.each([
    ["a message is changed", "update message set content = 'forged' where role = 'assistant' and key > 0", 0],
    ["a body is added", "update message set body = '{}'", 0],
    ["a message is deleted", "delete from message where role = 'user'", 0],
    [
      "a tool call is added",
      "insert into tool_call (key, call_id, tool, params, status, started_ms) select key * 65536, 'c', 't', '{}', 'ok', 0 from turn order by key limit 1",
      0,
    ],
    ["a turn is given another parent", "update turn set parent = null, depth = 0 where depth = 2", 2],
    ["a hash is changed", "update turn set hash = zeroblob(32) where depth = 1", 1],
    [
      "turns are bent into a ring",
      "update turn set parent = (select key from turn where depth = 2) where depth = 0",
      0,
    ],
  ])("%s, and verify names the turn", async (_title, forgery, depth) => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    await using store = await open(path);
    const turns: TurnId[] = [];
    for (const name of ["a", "b", "c"]) {
      const claim = await begin(store, name);
      await store.turns.commit(turnFor(claim));
      turns.push(claim.turn);
    }
    expect(await store.verify()).toEqual({ ok: true, turns: 3, pruned: 0, audited: 0 });
    const db = new Database(path);
    db.pragma("foreign_keys = off");
    db.exec(forgery);
    db.close();
    expect(await store.verify()).toEqual({ ok: false, turn: turns[depth], problem: expect.any(String) });
  });
});

describe("a disk that fails", () => {
  test.runIf(canMountSmallDisk())(
    "a full disk refuses clearly, keeps what was acknowledged, and goes on when there is room",
    async () => {
      const program = new URL("../../../test/support/full-disk.ts", import.meta.url);
      // On the larger disk the log is long enough to be copied when there is no room for the copy.
      for (const [size, ballast] of [
        ["6m", "3"],
        ["32m", "8"],
      ] as const) {
        const { said, code } = await runOnSmallDisk(size, program, ballast);
        expect(said).toContain("after room was made: ok");
        expect(code).toBe(0);
      }
    },
  );

  test("a folder that cannot be written is refused with a hint", async () => {
    using folder = temporaryFolder();
    const home = join(folder.path, "home");
    mkdirSync(home);
    chmodSync(folder.path, 0o755);
    chmodSync(home, 0o555);
    // Root may write everywhere, so root tries as nobody.
    const opener = startOpener(join(home, "cortex.db"), process.getuid?.() === 0 ? 65_534 : undefined);
    opener.release();
    expect(await opener.firstLine).toContain("store_unwritable");
    await opener.end;
    expect(existsSync(join(home, "cortex.db"))).toBe(false);
  });

  test("a path whose folder is a file is refused with a hint", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "file"), "");
    await expect(open(join(folder.path, "file", "cortex.db"))).rejects.toEqual(refusal("store_unwritable"));
  });
});

describe("a ledger", () => {
  const openLedger = (path: string) => openSqliteLedger({ path });

  test("is read where nobody has the database open, and nothing in the file changes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    const store = await open(path);
    await begin(store, "a");
    await store[Symbol.asyncDispose]();
    const before = readFileSync(path);
    await using ledger = await openLedger(path);
    expect(await ledger.sessions.get(session("work"))).toMatchObject({ state: "streaming" });
    expect((await ledger.changes.since(0)).changes).toHaveLength(4);
    await ledger[Symbol.asyncDispose]();
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test("keeps nobody from writing, and does not wait for one who writes", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    await (await open(path))[Symbol.asyncDispose]();
    await using ledger = await openLedger(path);
    await using store = await open(path);
    await begin(store, "a");
    expect(await ledger.counts()).toMatchObject({ events: 1, running: 1 });
  });

  test.each(["nothing", "an empty file"])("is refused where there is %s", async (what) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    if (what === "an empty file") writeFileSync(path, "");
    await expect(openLedger(path)).rejects.toEqual(refusal("store_missing"));
    expect(readdirSync(folder.path)).toEqual(what === "nothing" ? [] : ["cortex.db"]);
  });

  test.each([
    ["store_newer", (db: Database.Database) => db.pragma(`user_version = ${MIGRATIONS.at(-1)!.version + 1}`)],
    ["store_older", (db: Database.Database) => db.pragma("user_version = 1")],
    ["store_foreign", (db: Database.Database) => db.pragma("application_id = 7")],
  ])("is refused with %s", async (code, change) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    const db = openForWriting(path);
    migrate(db);
    change(db);
    db.close();
    await expect(openLedger(path)).rejects.toEqual(refusal(code));
  });

  test("is refused where the file is no database", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    writeFileSync(path, "a shopping list ".repeat(1_000));
    await expect(openLedger(path)).rejects.toEqual(refusal("store_corrupt"));
  });
});

describe("the feed of changes", () => {
  test("a database from before it had a feed gets an empty one", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    const db = openForWriting(path);
    migrate(db, MIGRATIONS.slice(0, 1));
    db.close();
    await using store = await open(path);
    expect(await store.changes.last()).toBe(0);
    await store.events.accept(event("a"));
    expect(await store.changes.since(0)).toMatchObject({ changes: [{ seq: 1, kind: "event" }] });
  });

  test("old entries go a few at a time, and whoever was away since then is told", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "cortex.db");
    await (await open(path))[Symbol.asyncDispose]();
    const excess = 3 * TRIM_STEP;
    const db = new Database(path);
    db.prepare(
      `insert into change (at_ms, facts) with recursive n (i) as (select 1 union all select i + 1 from n where i < ?)
       select 0, '[8,0,0]' from n`,
    ).run(KEPT_CHANGES + excess);
    db.close();
    await using store = await open(path);
    for (const steps of [1, 2, 3, 3]) {
      await store.events.accept(event(`e${steps}-${await store.changes.last()}`));
      expect(await store.changes.first()).toBe(1 + steps * TRIM_STEP);
    }
    const first = await store.changes.first();
    const last = await store.changes.last();
    expect(last - first + 1).toBeGreaterThanOrEqual(KEPT_CHANGES);
    expect(await store.changes.since(first - 2)).toEqual({ changes: [], seq: last, gap: true });
    expect(await store.changes.since(first - 1, { limit: 1 })).toMatchObject({ seq: first, gap: false });
  });

  test("a send that a crash has cut off is told at the next start", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "cortex.db");
    const first = await open(path);
    await first.turns.commit(turnFor(await begin(first, "a"), { deliveries: [delivery("a")] }));
    const [claim] = await first.outbox.claim(alice, 1);
    await first.outbox.plan(claim!, ["x"]);
    await first.outbox.sending(claim!, 0);
    const before = await first.changes.last();
    await first.crash();
    await using second = await open(path);
    expect(await second.changes.since(before)).toMatchObject({
      changes: [{ kind: "delivery", delivery: "delivery-a", state: "unknown" }],
    });
  });
});

test("opening and closing leaves no file behind, however often it is closed", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "cortex.db");
  for (let i = 0; i < 3; i++) {
    const store = await open(path);
    expect(await store.query("select 1 as one")).toEqual([{ one: 1 }]);
    const late = store.events.accept(event("a"));
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose](), late]);
  }
  expect(readdirSync(folder.path)).toEqual(["cortex.db", "cortex.db.mutex"]);
});

test("the moment of a call is the caller's, not the writer's", async () => {
  using folder = temporaryFolder(memoryParent());
  await using store = await open(join(folder.path, "cortex.db"));
  await store.events.accept(event("a"));
  expect((await store.events.get("test:a" as EventId))!.receivedAtMs).toBe(START_MS);
});

/** Opens the database in a process of its own, which holds it until it is released. */
function startOpener(path: string, uid?: number) {
  const script = fileURLToPath(new URL("../../../test/support/opener.ts", import.meta.url));
  const child = spawn(process.execPath, [script, path], {
    stdio: ["pipe", "pipe", "inherit"],
    ...(uid === undefined ? {} : { uid }),
  });
  const firstLine = new Promise<string>((resolve) =>
    child.stdout.once("data", (data: Buffer) => resolve(data.toString())),
  );
  const end = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return { firstLine, end, release: () => void child.stdin.end() };
}

/** A database in WAL mode, not ours, whose rows are still in the log. */
function writeForeignLog(path: string): Disposable & { rows(): number } {
  const db = new Database(path);
  db.pragma("journal_mode = wal");
  db.exec("create table notes (text); insert into notes values ('x')");
  const count = db.prepare<[], number>("select count(*) from notes").pluck();
  return { rows: () => count.get()!, [Symbol.dispose]: () => void db.close() };
}

function tableRoot(path: string, table: string): number {
  const db = new Database(path, { readonly: true });
  const root = db
    .prepare<[string], number>("select rootpage from sqlite_schema where name = ?")
    .pluck()
    .get(table)!;
  db.close();
  return root;
}

async function readDamaged(path: string): Promise<void> {
  await using store = await open(path);
  await store.events.get("test:e1" as EventId);
  await store.events.accept(event("one more"));
}
