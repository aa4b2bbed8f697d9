import { spawn, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";

import { openWarmStore } from "../../test/support/open-store.ts";
import { event, session, testClock } from "../../test/support/sample.ts";
import { canMountSmallDisk, runOnSmallDisk } from "../../test/support/small-disk.ts";
import { finishTurn } from "../../test/support/stores.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import { MAX_ARCHIVED_BYTES } from "../store/sqlite/backup-archive.ts";
import { openForWriting } from "../store/sqlite/connection.ts";
import { migrate } from "../store/sqlite/migrate.ts";
import { MIGRATIONS } from "../store/sqlite/schema.ts";
import type { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import { type Backup, backUp } from "./backup.ts";
import { databasePath } from "../config/home.ts";

import { inspectBackup, restoreHome } from "./restore.ts";
import { verifyHome } from "./verify-command.ts";

const NOW = Date.UTC(2026, 2, 1);

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

interface Place extends AsyncDisposable {
  readonly home: string;
  /** A path beside the home. */
  readonly beside: (name: string) => string;
  readonly store: SqliteStore;
}

/** A home with two turns and some files, in use. */
async function openPlace(files: Readonly<Record<string, string>> = {}): Promise<Place> {
  const folder = temporaryFolder(memoryParent());
  const home = join(folder.path, "home");
  write(home, { "config/cortex.json": "{}", "hooks/greet.ts": "export default 1;", ...files });
  const store = await openWarmStore({ path: databasePath(home), clock: testClock() });
  await finishTurn(store, "a");
  await finishTurn(store, "b");
  return {
    home,
    beside: (name) => join(folder.path, name),
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

function write(home: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), content);
  }
}

function make({ home, beside }: Place, { withKeys = false, file = beside("a.backup") } = {}): Backup {
  return backUp({ home, file, withKeys, nowMs: NOW, onStep: () => {} });
}

function restoreTo(file: string, home: string) {
  return restoreHome({ file, home, onStep: () => {} });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

describe("what is backed up", () => {
  test("comes back as it was: the ledger, the files, their permissions and links", async () => {
    await using place = await openPlace({
      "workspaces/main/notes/today.md": "x".repeat(100_000),
      "data/artifacts/ab": "an artifact",
      "tmp/threads/thr_1/artifact.md": "at work",
    });
    chmodSync(join(place.home, "hooks/greet.ts"), 0o640);
    symlinkSync("notes/today.md", join(place.home, "workspaces/main/link"));
    const made = make(place);
    expect(made).toMatchObject({ files: 6, leftOut: [], verdict: { turns: 2, pruned: 0 }, madeAtMs: NOW });
    expect(statSync(made.file)).toMatchObject({ size: made.bytes, mode: expect.toSatisfy(isPrivate) });

    const home = place.beside("restored");
    expect(restoreTo(made.file, home)).toEqual(inspectBackup(made.file));
    expect(filesIn(home)).toEqual([
      "config/cortex.json",
      "data/artifacts/ab",
      "data/cortex.db",
      "hooks/greet.ts",
      "tmp/threads/thr_1/artifact.md",
      "workspaces/main/link",
      "workspaces/main/notes/today.md",
    ]);
    expect(readFileSync(join(home, "workspaces/main/link"), "utf8")).toBe("x".repeat(100_000));
    expect(readlinkSync(join(home, "workspaces/main/link"))).toBe("notes/today.md");
    expect(statSync(join(home, "hooks/greet.ts")).mode & 0o777).toBe(0o640);

    await using store = await openWarmStore({ path: databasePath(home), clock: testClock() });
    expect(await store.sessions.get(session("work"))).toEqual(
      await place.store.sessions.get(session("work")),
    );
    expect(await store.events.search("message")).toHaveLength(2);
    await finishTurn(store, "c");
    expect(await store.verify()).toMatchObject({ ok: true, turns: 3 });
    const db = new Database(databasePath(home), { readonly: true });
    expect(db.prepare("select name from sqlite_schema where name in ('sqlar', 'backup')").all()).toEqual([]);
    db.close();
  });

  test("does not hold what is made anew or belongs to a process, and keys only if asked for", async () => {
    await using place = await openPlace({
      "config/.env": "KEY=secret",
      "data/token": "token",
      "data/server.json": "{}",
      "logs/up.log": "log",
      "tmp/output/main/1": "output",
      "hooks/node_modules/left-pad/index.js": "",
    });
    const { leftOut, file } = make(place);
    expect(leftOut).toEqual([{ name: "config/.env", why: "keys" }]);
    restoreTo(file, place.beside("without"));
    expect(filesIn(place.beside("without"))).toEqual([
      "config/cortex.json",
      "data/cortex.db",
      "hooks/greet.ts",
    ]);

    expect(make(place, { withKeys: true, file: place.beside("b.backup") }).leftOut).toEqual([]);
    restoreTo(place.beside("b.backup"), place.beside("with"));
    expect(readFileSync(join(place.beside("with"), "config/.env"), "utf8")).toBe("KEY=secret");
  });

  test("leaves out what is too large or no file, and says so", async () => {
    await using place = await openPlace({ "workspaces/main/large": "", "workspaces/main/fits": "" });
    truncateSync(join(place.home, "workspaces/main/large"), MAX_ARCHIVED_BYTES + 1); // takes no room
    spawnSync("mkfifo", [join(place.home, "workspaces/main/pipe")]);
    expect(make(place).leftOut).toEqual([
      { name: "workspaces/main/large", why: "large" },
      { name: "workspaces/main/pipe", why: "special" },
    ]);
  });

  test("is what SQLite's own program reads as an archive", async () => {
    await using place = await openPlace();
    const { file } = make(place);
    const db = new Database(file, { readonly: true });
    expect(db.prepare("select name, sz, mode from sqlar order by name").all()).toEqual([
      { name: "config/cortex.json", sz: 2, mode: 0o100644 },
      { name: "hooks/greet.ts", sz: 17, mode: 0o100644 },
    ]);
    db.close();
  });
});

describe("a backup is refused", () => {
  test("where there is a file, no folder, or the home itself", async () => {
    await using place = await openPlace();
    writeFileSync(place.beside("mine"), "mine");
    symlinkSync(place.home, place.beside("link"));
    const inside = [
      join(place.home, "a.backup"),
      place.beside("link/b.backup"),
      place.beside("link/hooks/b"),
    ];
    for (const file of [place.beside("mine"), place.beside("none/a"), ...inside]) {
      expect(() => make(place, { file })).toThrow(refusal("state_conflict"));
    }
    expect(readFileSync(place.beside("mine"), "utf8")).toBe("mine");
    expect(readdirSync(dirname(place.home)).toSorted()).toEqual(["home", "link", "mine"]);
  });

  test("where there is no ledger, or one that was changed", async () => {
    await using place = await openPlace();
    const empty = { ...place, home: place.beside("empty") };
    mkdirSync(empty.home);
    expect(() => make(empty)).toThrow(refusal("store_missing"));
    const db = new Database(databasePath(place.home));
    db.exec("update message set content = 'forged' where role = 'assistant'");
    db.close();
    expect(() => make(place)).toThrow(refusal("store_corrupt"));
    expect(existsSync(place.beside("a.backup"))).toBe(false);
  });

  test.runIf(canMountSmallDisk())("where there is no room, and leaves nothing there", async () => {
    const program = new URL("../../test/support/backup-on-full-disk.ts", import.meta.url);
    const { said, code } = await runOnSmallDisk("1m", program);
    expect(said).toContain("store_full");
    expect(code).toBe(0);
  });
});

describe("a home is restored", () => {
  test("never over one that is there", async () => {
    await using place = await openPlace();
    const { file } = make(place);
    expect(() => restoreTo(file, place.home)).toThrow(refusal("state_conflict"));
    expect(() => restoreTo(file, file)).toThrow(refusal("state_conflict"));
    expect(verifyHome(place.home)).toMatchObject({ ok: true, turns: 2 });
  });

  test("to an empty folder, also by way of a link", async () => {
    await using place = await openPlace();
    const { file } = make(place);
    mkdirSync(place.beside("empty"));
    symlinkSync(place.beside("empty"), place.beside("link"));
    restoreTo(file, place.beside("link"));
    expect(verifyHome(place.beside("empty"))).toMatchObject({ ok: true, turns: 2 });
  });

  test("from a plain copy of a database, also of an older schema", async () => {
    using folder = temporaryFolder(memoryParent());
    const path = join(folder.path, "old.db");
    const db = openForWriting(path);
    migrate(db, MIGRATIONS.slice(0, 5));
    db.close();
    const home = join(folder.path, "home");
    expect(restoreTo(path, home)).toEqual({
      schema: 5,
      files: 0,
      madeAtMs: undefined,
      verdict: { ok: true, turns: 0, pruned: 0, audited: 0 },
    });
    await using store = await openWarmStore({ path: databasePath(home), clock: testClock() });
    await store.events.accept(event("a"));
  });

  const DAMAGE: Readonly<Record<string, [string, (file: string) => void]>> = {
    "a turn was changed": ["store_corrupt", (file) => change(file, "update message set content = 'forged'")],
    "an event was changed": ["store_corrupt", (file) => change(file, "update event set sender = 'forged'")],
    "its seal was removed": ["store_corrupt", (file) => truncateSync(file, statSync(file).size - 32)],
    "its seal was changed": ["store_corrupt", (file) => replaceEnd(file, "x")],
    "it was appended to": ["store_corrupt", (file) => appendFileSync(file, "x")],
    "a file was changed": ["store_corrupt", (file) => change(file, "update sqlar set data = x'00', sz = 1")],
    "a packed file was changed": [
      "store_corrupt",
      (file) => change(file, "update sqlar set data = x'00', sz = 9"),
    ],
    "it was cut off": ["store_corrupt", (file) => truncateSync(file, 100_000)],
    "it is empty": ["store_corrupt", (file) => truncateSync(file, 0)],
    "it is no backup": ["store_corrupt", (file) => writeFileSync(file, "a shopping list ".repeat(1_000))],
    "it is of another program": ["store_foreign", (file) => change(file, "pragma application_id = 7")],
    "it is of a newer Cortex": ["store_newer", (file) => change(file, "pragma user_version = 999")],
    "a file would go elsewhere": [
      "path_forbidden",
      (file) =>
        change(
          file,
          `update sqlar set name = '../../evil' where name like 'hooks%';
           update backup_file set name = '../../evil' where name like 'hooks%'`,
        ),
    ],
    "a token would come with it": ["path_forbidden", (file) => addFile(file, "data/token")],
    "a log of the database would come with it": [
      "path_forbidden",
      (file) => addFile(file, "data/cortex.db-wal"),
    ],
    "a name is none": ["path_forbidden", (file) => addFile(file, "hooks/a\0b")],
    "a link would lead another one elsewhere": [
      "path_forbidden",
      (file) => {
        addFile(file, "workspaces/out", dirname(file));
        addFile(file, "workspaces/out/evil", "/etc/passwd");
      },
    ],
    "a file would take the place of a folder": ["path_forbidden", (file) => addFile(file, "hooks", "/etc")],
    "a file says that it is huge": [
      "store_corrupt",
      (file) => change(file, `update sqlar set sz = ${MAX_ARCHIVED_BYTES + 1}`),
    ],
    "a file is nothing": ["store_corrupt", (file) => change(file, "update sqlar set data = null, sz = 0")],
    "a file is of no time": ["store_corrupt", (file) => change(file, "update sqlar set mtime = 'noon'")],
    "there are no files where there should be": ["store_corrupt", (file) => change(file, "drop table sqlar")],
  };
  test.each(Object.entries(DAMAGE))("not where %s", async (_, [code, damage]) => {
    await using place = await openPlace();
    const { file } = make(place);
    damage(file);
    const home = place.beside("restored");
    expect(() => inspectBackup(file)).toThrow(refusal(code));
    expect(() => restoreTo(file, home)).toThrow(refusal(code));
    expect(readdirSync(dirname(home)).toSorted()).toEqual(["a.backup", "home"]);
  });
});

test("a backup of an earlier version, which kept its hash in a row, can be restored", async () => {
  await using place = await openPlace();
  const { file } = make(place);
  change(
    file,
    `drop table backup;
     create table backup (made_ms integer not null, seal blob not null);
     insert into backup values (7, zeroblob(48));`,
  );
  const { pageSize, pages } = measure(file);
  truncateSync(file, pageSize * pages);
  expect(restoreTo(file, place.beside("restored"))).toMatchObject({ madeAtMs: 7, verdict: { ok: true } });
});

test("a backup in which any byte has changed is refused, and leaves nothing", async () => {
  await using place = await openPlace();
  const { file } = make(place);
  const good = readFileSync(file);
  const damaged = place.beside("damaged");
  for (let at = 0; at < good.length; at += Math.ceil(good.length / 40)) {
    const bytes = Buffer.from(good);
    bytes[at]! ^= 1;
    writeFileSync(damaged, bytes);
    expect(() => restoreTo(damaged, place.beside("restored")), `byte ${at}`).toThrow(
      expect.objectContaining({ name: "CortexError" }),
    );
  }
  expect(readdirSync(dirname(file)).toSorted()).toEqual(["a.backup", "damaged", "home"]);
});

function measure(file: string): { readonly pageSize: number; readonly pages: number } {
  const db = new Database(file, { readonly: true });
  try {
    const [pageSize, pages] = ["page_size", "page_count"].map((name) => db.pragma(name, { simple: true }));
    return { pageSize: Number(pageSize), pages: Number(pages) };
  } finally {
    db.close();
  }
}

function replaceEnd(file: string, end: string): void {
  truncateSync(file, statSync(file).size - end.length);
  appendFileSync(file, end);
}

function change(file: string, sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}

/** Adds a file, or a link where it says to what, as a backup would. */
function addFile(file: string, name: string, target?: string): void {
  const content = Buffer.from(target ?? "evil");
  const db = new Database(file);
  const size = target === undefined ? content.length : -1;
  db.prepare("insert into sqlar values (?, ?, 0, ?, ?)").run(name, 0o100644, size, content);
  db.prepare("insert into backup_file values (?, ?)").run(name, hash("sha256", content, "hex"));
  db.close();
}

describe("several at once", () => {
  const CHILD = fileURLToPath(new URL("../../test/support/backup-child.ts", import.meta.url));

  /** How many of them did it. */
  async function runThree(...args: string[]): Promise<number> {
    const children = [1, 2, 3].map(() => spawn(process.execPath, [CHILD, ...args], { stdio: "ignore" }));
    const ends = await Promise.all(children.map((child) => once(child, "close")));
    return ends.filter(([code]) => code === 0).length;
  }

  test("make one backup, and it is whole", async () => {
    await using place = await openPlace();
    const file = place.beside("a.backup");
    expect(await runThree("backup", place.home, file)).toBe(1);
    expect(inspectBackup(file)).toMatchObject({ files: 2 });
    expect(readdirSync(dirname(file)).toSorted()).toEqual(["a.backup", "home"]);
  });

  test("restore one home, and it is whole", async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`workspaces/main/${i}`, "a"]));
    await using place = await openPlace(many);
    const { file } = make(place);
    const home = place.beside("restored");
    expect(await runThree("restore", home, file)).toBe(1);
    expect(filesIn(home)).toHaveLength(303);
    expect(verifyHome(home)).toMatchObject({ ok: true, turns: 2 });
    expect(readdirSync(dirname(file)).toSorted()).toEqual(["a.backup", "home", "restored"]);
  });

  test("leave alone what is not theirs, and remove what was cut off", async () => {
    await using place = await openPlace();
    const { pid: dead } = spawnSync("true");
    const left = ["a.backup.unfinished", `a.backup.unfinished-${process.ppid}`, "a.backup.unfinished-mine"];
    for (const name of left) writeFileSync(place.beside(name), "");
    writeFileSync(place.beside(`a.backup.unfinished-${dead}`), "");
    make(place);
    expect(readdirSync(dirname(place.home)).toSorted()).toEqual(["a.backup", ...left, "home"].toSorted());
  });
});

describe("killed at any moment", { timeout: 240_000 }, () => {
  const CHILD = fileURLToPath(new URL("../../test/support/backup-child.ts", import.meta.url));
  const KILLER = new URL("../../test/support/die-before-write.ts", import.meta.url).href;

  /** Whether it came to its end. */
  function runUntilKilled(writes: number, ...args: string[]): boolean {
    const words = ["--import", KILLER, CHILD, ...args];
    const env = { ...process.env, DIE_BEFORE_WRITE: String(writes) };
    const { signal, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
    expect(stderr).toBe("");
    return signal !== "SIGKILL";
  }

  test("a backup has its name when it is whole, and the next one is not in its way", async () => {
    await using place = await openPlace();
    for (let writes = 1, isAtEnd = false; !isAtEnd; writes++) {
      const file = place.beside(`${writes}.backup`);
      isAtEnd = runUntilKilled(writes, "backup", place.home, file);
      if (!existsSync(file)) make(place, { file });
      expect(inspectBackup(file)).toMatchObject({ files: 2 });
    }
    expect(verifyHome(place.home)).toMatchObject({ ok: true, turns: 2 });
  });

  test("a restore leaves no home, or all of it, and can be done again", async () => {
    await using place = await openPlace({ "workspaces/main/a": "a" });
    const { file } = make(place);
    for (let writes = 1, isAtEnd = false; !isAtEnd; writes++) {
      const home = place.beside(`restored-${writes}`);
      isAtEnd = runUntilKilled(writes, "restore", home, file);
      if (!existsSync(home)) restoreTo(file, home);
      expect(filesIn(home)).toEqual([
        "config/cortex.json",
        "data/cortex.db",
        "hooks/greet.ts",
        "workspaces/main/a",
      ]);
      expect(verifyHome(home)).toMatchObject({ ok: true, turns: 2 });
    }
  });
});

const isPrivate = (mode: unknown): boolean => (Number(mode) & 0o777) === 0o600;
