/** Comparing, backing up, restoring, forgetting and updating, from outside. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openForWriting } from "../src/store/sqlite/connection.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../src/store/sqlite/schema.ts";
import { run as runApart, startServer } from "./support/cli.ts";
import { run, runJson } from "./support/here.ts";
import { memoryParent, temporaryFolder } from "./support/temporary.ts";

const YEAR_MS = 365 * 24 * 3_600_000;

const databaseOf = (home: string): string => join(home, "data", "cortex.db");

async function say(home: string, text: string, ...more: string[]): Promise<string> {
  return ((await runJson(home, "send", text, "--wait", ...more)) as { turnId: string }).turnId;
}

/** As if all that is there had happened a year ago. Hashes do not depend on when a turn was stored. */
function growOld(home: string): void {
  const db = new Database(databaseOf(home));
  db.exec(`update turn set completed_ms = completed_ms - ${YEAR_MS};
           update event set received_ms = received_ms - ${YEAR_MS};
           update session set used_ms = used_ms - ${YEAR_MS}`);
  db.close();
}

describe("beside a server", () => {
  let home: ReturnType<typeof temporaryFolder>;
  let server: Awaited<ReturnType<typeof startServer>>;
  let first: string;
  let second: string;

  beforeAll(async () => {
    home = temporaryFolder();
    server = await startServer(home.path);
    first = await say(home.path, "hello");
    second = await say(home.path, "tell me of cats");
    await run(home.path, ["fork", first, "tell me of dogs", "--session", "dogs", "--wait"]);
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });

  test("diff shows what two threads have in common, and what each has of its own", async () => {
    const { code, out } = await run(home.path, ["diff", second, "dogs"]);
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(`^in common  up to ${first} hello\n- +${second}, 1 turn since the fork in `),
    );
    expect(out).toMatch(/^-> tell me of cats$/m);
    expect(out).toMatch(/^\+> tell me of dogs$/m);
    const columns = await run(home.path, ["diff", second, "dogs", "--side"]);
    expect(columns.out).toMatch(/^> tell me of cats +│ > tell me of dogs$/m);
    expect(await runJson(home.path, "diff", "main", "dogs")).toMatchObject({
      common: { id: first },
      left: { head: second, turns: [{ id: second }] },
      right: { turns: [{ session: "dogs" }] },
      diff: expect.stringContaining("+> tell me of dogs"),
    });
  });

  test.each([
    [["diff", "main"], 2, /Missing required argument/],
    [["diff", "main", "nowhere"], 1, /Unknown session or turn "nowhere"[^]*cortex sessions/],
    [["diff", "main", "main", "--limit", "0"], 2, /Invalid limit "0"/],
    [["backup"], 2, /Missing required argument 'file'/],
    [["backup", "/nowhere/at/all"], 1, /Missing folder \/nowhere\/at[^]*Create the folder/],
    [["restore", "/nowhere"], 1, /Missing backup \/nowhere[^]*cortex backup/],
    [["prune"], 2, /Missing `--before`[^]*cortex prune --before 90d/],
    [["prune", "--before", "lately"], 2, /Invalid time "lately"/],
    [["prune", "--before", "1h", "--yes"], 1, /too recent[^]*at least a day/],
  ])("%j is refused in two lines", async (args, expected, message) => {
    const { code, out, err } = await run(home.path, args);
    expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({
      code: expected,
      out: "",
      lines: 2,
    });
    expect(err).toMatch(message);
  });

  test("a backup that is made meanwhile is whole, and goes on elsewhere from where it was", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "cortex.backup");
    const restored = join(folder.path, "restored");
    const writing = Array.from({ length: 4 }, (_, i) =>
      runApart(home.path, ["send", `${i}`, "--session", "more", "--wait"]),
    );
    const made = await run(home.path, ["backup", file]);
    expect(made).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringMatching(/^3 turns and \d+ audit entries verified\.$/m),
    });
    await Promise.all(writing);

    expect(await run(home.path, ["backup", file])).toMatchObject({
      code: 1,
      err: expect.stringContaining("already"),
    });
    expect(await runJson(home.path, "restore", file, "--check")).toMatchObject({ home: null, pruned: 0 });
    expect(await run(home.path, ["restore", file])).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not empty"),
    });
    expect(await runJson(home.path, "restore", file, "--home", restored)).toMatchObject({ home: restored });
    await using elsewhere = await startServer(restored);
    expect(await say(restored, "and then?", "--session", "dogs")).toEqual(expect.any(String));
    expect(await runJson(restored, "verify")).toMatchObject({ ok: true });
    expect(elsewhere.child.exitCode).toBe(null);
  });
});

describe("forgetting", () => {
  test("says what would go, does it only if told, by the server, and verify knows of it", async () => {
    using home = temporaryFolder();
    await using server = await startServer(home.path);
    const turn = await say(home.path, "my secret", "--session", "old");
    growOld(home.path);
    const recent = await say(home.path, "hello", "--session", "new");
    const args = ["prune", "--before", "90d"];
    const dry = await run(home.path, args);
    expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/turns +1\n[^]*Nothing was changed/) });
    expect(await runJson(home.path, ...args)).toMatchObject({
      dryRun: true,
      turns: 1,
      bytes: expect.any(Number),
    });
    expect((await run(home.path, ["show", turn])).out).toContain("my secret");

    expect(await runJson(home.path, ...args, "--yes")).toMatchObject({
      dryRun: false,
      turns: 1,
      events: 2,
      isRewritten: false,
    });
    expect((await run(home.path, ["show", turn])).out).toMatch(/^pruned .* its content was deleted$/m);
    expect((await run(home.path, ["log", "old"])).out).toContain("(pruned)");
    expect((await run(home.path, ["events"])).out).not.toContain("my secret");
    expect((await run(home.path, ["search", "secret"])).out).not.toContain("my secret");
    expect((await run(home.path, ["verify"])).out).toMatch(
      /^1 turn and \d+ audit entries verified, 1 turn pruned \(hashes kept\)\.\n$/,
    );
    expect((await run(home.path, ["show", recent])).out).toContain("hello");
    expect(await run(home.path, args)).toMatchObject({
      out: expect.stringContaining("Nothing is older than"),
    });
    expect(server.child.exitCode).toBe(null);
  });

  test("works without a server, and leaves a home that one starts on", async () => {
    using home = temporaryFolder();
    {
      await using server = await startServer(home.path);
      await say(home.path, "my secret");
      expect(server.child.exitCode).toBe(null);
    }
    growOld(home.path);
    expect(await runJson(home.path, "prune", "--before", "90d", "--yes")).toMatchObject({
      turns: 1,
      isRewritten: true,
    });
    expect(readFileSync(databaseOf(home.path), "latin1")).not.toContain("my secret");
    await using server = await startServer(home.path);
    expect(await say(home.path, "do you remember?")).toEqual(expect.any(String));
    expect(await runJson(home.path, "verify")).toEqual({
      ok: true,
      turns: 2,
      pruned: 1,
      audited: expect.any(Number),
    });
    expect(server.child.exitCode).toBe(null);
  });
});

describe("an update", () => {
  test("keeps what was there for a while, and an older program leaves a newer database alone", async () => {
    using home = temporaryFolder(memoryParent());
    const path = databaseOf(home.path);
    mkdirSync(join(home.path, "data"));
    const db = openForWriting(path);
    migrate(db, MIGRATIONS.slice(0, 9));
    db.close();
    const newest = MIGRATIONS.at(-1)!.version;
    const copy = `${path}.before-${newest}`;
    {
      await using server = await startServer(home.path);
      expect(server.child.exitCode).toBe(null);
    }
    expect(await runJson(home.path, "restore", copy, "--check")).toMatchObject({ schema: 9, madeAt: null });
    {
      await using server = await startServer(home.path);
      expect([server.child.exitCode, existsSync(copy)]).toEqual([null, true]);
    }

    const newer = new Database(path);
    newer.pragma(`user_version = ${newest + 1}`);
    newer.close();
    const before = readFileSync(path);
    for (const [expected, ...args] of [
      ["78", "up", "--port", "0"],
      ["1", "status"],
      ["1", "verify"],
      ["1", "backup", `${home.path}.backup`],
    ]) {
      const { code, err } = await run(home.path, args);
      expect([args[0], code]).toEqual([args[0], Number(expected)]);
      expect(err).toMatch(
        /has schema \d+; this version of Cortex supports schemas up to \d+[^]*Update Cortex/,
      );
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
