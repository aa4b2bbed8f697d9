import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { isRunning, openPool } from "../../../test/support/sub-agents.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { findProcess } from "./list-processes.ts";
import { endStrays, StrayRecords } from "./strays.ts";

const PARENT = fileURLToPath(new URL("../../../test/support/sub-agent-parent.ts", import.meta.url));

test("when the parent dies, its own child ends, and others are ended at the next start", async () => {
  using folder = temporaryFolder();
  const strayFile = join(folder.path, "strays.json");
  const parent = spawn(process.execPath, [PARENT, strayFile, folder.path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: parent.stdout }), "line")) as [string];
  const [own, other] = JSON.parse(line) as [number, number];
  await expect
    .poll(() => existsSync(strayFile) && readFileSync(strayFile, "utf8"))
    .toContain(`"pid":${other}`);
  parent.kill("SIGKILL");
  await once(parent, "close");

  await expect.poll(() => isRunning(own)).toBe(false);
  expect(isRunning(other)).toBe(true);
  await using pool = openPool({ strayFile });
  await expect.poll(() => isRunning(other)).toBe(false);
  expect(pool.logged).toEqual([expect.stringContaining(`process ${other}`)]);
  await expect.poll(() => existsSync(strayFile)).toBe(false);
});

test("a process that has the number of one that is gone is left alone", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "strays.json");
  const bystander = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { detached: true });
  await once(bystander, "spawn");
  try {
    writeFileSync(file, JSON.stringify([{ pid: bystander.pid, began: "another day" }]));
    const logged: string[] = [];
    await endStrays(file, (text) => logged.push(text));
    expect(logged).toEqual([]);
    expect(isRunning(bystander.pid!)).toBe(true);
  } finally {
    bystander.kill("SIGKILL");
  }
});

test("what a program that is gone has left in its group is ended", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "strays.json");
  const stays = `require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"],
    { stdio: "ignore" }).once("spawn", function () { console.log(this.pid); process.exit(); })`;
  const leader = spawn(process.execPath, ["-e", stays], { detached: true });
  const [line] = (await once(createInterface({ input: leader.stdout }), "line")) as [string];
  await once(leader, "close");
  expect(isRunning(Number(line))).toBe(true);
  writeFileSync(file, JSON.stringify([{ pid: leader.pid, began: "whenever" }]));
  await endStrays(file, () => {});
  await expect.poll(() => isRunning(Number(line))).toBe(false);
});

test.each(["", "{}", "[1, null]", '[{"pid":"1","began":"x"}]', '[{"pid":-1,"began":"x"}]'])(
  "a file of strays that holds %j is no reason not to start",
  async (text) => {
    using folder = temporaryFolder();
    const file = join(folder.path, "strays.json");
    writeFileSync(file, text);
    const logged: string[] = [];
    await endStrays(file, (line) => logged.push(line));
    expect(logged).toEqual([]);
  },
);

test("a process is noted from its start to its end", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "strays.json");
  const notes = new StrayRecords(file, () => {});
  const { began } = (await findProcess(process.pid))!;
  await notes.add(process.pid);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([{ pid: process.pid, began }]);
  await notes.remove(process.pid);
  expect(existsSync(file)).toBe(false);
});

test("a process that ends before it is noted is not noted", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "strays.json");
  const notes = new StrayRecords(file, () => {});
  await Promise.all([notes.add(process.pid), notes.remove(process.pid)]);
  expect(existsSync(file)).toBe(false);
});

test("where processes cannot be noted, that is logged and nothing fails", async () => {
  const logged: string[] = [];
  await new StrayRecords("/nowhere/strays.json", (text) => logged.push(text)).add(process.pid);
  expect(logged).toEqual([expect.stringContaining("/nowhere/strays.json")]);
});
