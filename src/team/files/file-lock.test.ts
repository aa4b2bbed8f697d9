import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { lockFile, lockPath, STALE_LOCK_MS } from "./file-lock.ts";

function testLock() {
  const folder = temporaryFolder();
  const path = join(folder.path, "tasks.md");
  return {
    folder: folder.path,
    path,
    lock: lockPath(path),
    take: (maxTries = 3) => lockFile(path, { shown: "tasks.md", clock: Date.now, maxTries }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** The pid of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

test("a lock is a file beside the file, which names its holder", async () => {
  using files = testLock();
  {
    using lock = await files.take();
    expect(lock.isHeld()).toBe(true);
    expect(files.lock).toBe(join(files.folder, ".tasks.md.lock"));
    expect(readFileSync(files.lock, "utf8")).toMatch(`${process.pid} ${hostname()} `);
  }
  expect(readdirSync(files.folder)).toEqual([]);
});

test("who does not get it says so", async () => {
  using files = testLock();
  using _ = await files.take();
  await expect(files.take()).rejects.toMatchObject({
    code: "state_conflict",
    transient: true,
    message: "Another process is changing tasks.md",
  });
});

test("the next one gets it as soon as it is free", async () => {
  using files = testLock();
  const first = await files.take();
  const second = files.take(4_000);
  first[Symbol.dispose]();
  using lock = await second;
  expect(lock.isHeld()).toBe(true);
});

test.each([
  ["whose holder has died", () => `${deadPid()} ${hostname()} 2026-03-28T10:15:00Z`, 0],
  ["that is too old", () => `${process.pid} ${hostname()} 2026-03-28T10:15:00Z`, -STALE_LOCK_MS - 1_000],
  ["from the future", () => "", STALE_LOCK_MS + 60_000],
  ["too old and without a word in it", () => "", -STALE_LOCK_MS - 1_000],
])("a lock %s is taken over", async (_, text, ageMs) => {
  using files = testLock();
  writeFileSync(files.lock, text());
  const atSeconds = (Date.now() + ageMs) / 1_000;
  utimesSync(files.lock, atSeconds, atSeconds);

  using lock = await files.take();
  expect(lock.isHeld()).toBe(true);
  expect(readdirSync(files.folder)).toEqual([".tasks.md.lock"]);
});

test.each([
  ["of a process that lives", () => `${process.pid} ${hostname()}\n`],
  ["of another host", () => `${deadPid()} another-host\n`],
  ["that names no process", () => "2026-03-28T10:15\n"],
  ["with nonsense in it", () => "-1 0 \u0000\n"],
])("a young lock %s is left alone", async (_, text) => {
  using files = testLock();
  writeFileSync(files.lock, text());
  await expect(files.take()).rejects.toMatchObject({ code: "state_conflict" });
  expect(existsSync(files.lock)).toBe(true);
});

test("whoever lost the lock knows, and leaves that of the next one", async () => {
  using files = testLock();
  const lost = await files.take();
  rmSync(files.lock);
  using lock = await files.take();

  expect(lost.isHeld()).toBe(false);
  lost[Symbol.dispose]();
  expect(lock.isHeld()).toBe(true);
});

test("of many that find a stale lock at once, one has it at a time", async () => {
  using files = testLock();
  writeFileSync(files.lock, `${deadPid()} ${hostname()}`);
  let holders = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      using lock = await files.take(4_000);
      expect(++holders).toBe(1);
      await new Promise(setImmediate);
      expect(lock.isHeld()).toBe(true);
      holders--;
    }),
  );
  expect(readdirSync(files.folder)).toEqual([]);
});

test("a shell takes the same lock", async () => {
  using files = testLock();
  const script = `set -o noclobber; until echo "$$ $(hostname) now" > "$1"; do sleep 0.01; done 2>/dev/null
    echo mine; read -r _; rm "$1"`;
  const shell = spawn("bash", ["-c", script, "bash", files.lock], { stdio: ["pipe", "pipe", "inherit"] });
  await new Promise((resolve) => shell.stdout.once("data", resolve));

  await expect(files.take()).rejects.toMatchObject({ code: "state_conflict" });
  const next = files.take(4_000);
  shell.stdin.end("\n");
  using lock = await next;
  expect(lock.isHeld()).toBe(true);
  expect(spawnSync("bash", ["-c", 'set -o noclobber; echo x > "$1"', "bash", files.lock]).status).not.toBe(0);
});
