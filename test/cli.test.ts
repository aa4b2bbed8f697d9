/** The command line as a person uses it: a process, what it prints, how it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { temporaryFolder } from "./support/temporary.ts";

const BIN = fileURLToPath(new URL("../bin/cortex.js", import.meta.url));

function start(home: string, ...args: string[]) {
  const env = { ...process.env, CORTEX_HOME: home };
  const child = spawn(process.execPath, [BIN, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (err += data.toString()));
  const ended = once(child, "close").then(() => ({
    code: child.exitCode,
    signal: child.signalCode,
    out,
    err,
  }));
  return { child, ended, said: () => out };
}

async function isUp(started: { child: ChildProcess; said: () => string }): Promise<void> {
  while (!started.said().includes("Cortex is up")) await once(started.child.stdout!, "data");
}

test("help lists the commands, and so does asking for nothing", async () => {
  using home = temporaryFolder();
  for (const args of [[], ["help"], ["--help"], ["-h"]]) {
    expect(await start(home.path, ...args).ended).toMatchObject({
      code: 0,
      out: expect.stringContaining("verify"),
    });
  }
});

test("an unknown command is named, with a hint, and ends with 2", async () => {
  using home = temporaryFolder();
  for (const word of ["nonsense", "constructor", "__proto__"]) {
    expect(await start(home.path, word).ended).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(new RegExp(`no command "${word}"[^]*cortex help`)),
    });
  }
});

test("up makes a home, keeps it from others, and gives it back when it is told to stop", async () => {
  using home = temporaryFolder();
  const path = join(home.path, "new", "home");
  const first = start(path, "up");
  await isUp(first);
  const second = await start(path, "up").ended;
  expect(second).toMatchObject({
    code: 1,
    err: expect.stringContaining(`Process ${first.child.pid}, up since`),
  });
  first.child.kill("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0, signal: null });
  expect(readdirSync(join(path, "data"))).toEqual(["cortex.db", "cortex.db.mutex"]);
});

test("verify checks a ledger that is in use, and says where there is none", async () => {
  using home = temporaryFolder();
  expect(await start(home.path, "verify").ended).toMatchObject({
    code: 1,
    err: expect.stringContaining("no ledger"),
  });
  const up = start(home.path, "up");
  await isUp(up);
  expect(await start(home.path, "verify").ended).toMatchObject({
    code: 0,
    out: expect.stringContaining("All 0 turns"),
  });
  up.child.kill("SIGTERM");
  await up.ended;
});

test("after a kill the next start takes over", async () => {
  using home = temporaryFolder();
  const first = start(home.path, "up");
  await isUp(first);
  first.child.kill("SIGKILL");
  await first.ended;
  const second = start(home.path, "up");
  await isUp(second);
  second.child.kill("SIGINT");
  expect(await second.ended).toMatchObject({ code: 0 });
});

test("a home that cannot be made is an error with a hint", async () => {
  using home = temporaryFolder();
  writeFileSync(join(home.path, "file"), "");
  expect(await start(join(home.path, "file"), "up").ended).toMatchObject({
    code: 1,
    err: expect.stringContaining("cannot be written"),
  });
});
