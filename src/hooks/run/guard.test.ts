import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

import type { GuardLimits } from "./guard.ts";

/** A process with a guard that does nothing but this. */
function programOf(work: string, limits: GuardLimits): string {
  const guard = JSON.stringify(new URL("guard.ts", import.meta.url).href);
  return `const { startGuard } = await import(${guard});
    startGuard({ ...${JSON.stringify(limits)}, parent: Number(process.argv[1] ?? process.ppid) })(1);
    ${work}`;
}

function start(program: string): ChildProcess {
  return spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

test("a process that takes more than it may is ended, even if it does not give way", async () => {
  const work = `const kept = []; for (;;) kept.push(new Array(1_000).fill({}));`;
  const [code, signal] = (await once(start(programOf(work, { memoryMb: 64, lookMs: 20 })), "exit")) as [
    number | null,
    NodeJS.Signals | null,
  ];
  expect({ code, signal }).toEqual({ code: null, signal: "SIGKILL" });
});

test("a process that does not give way ends when whoever started it was killed", async () => {
  const spins = programOf("for (;;);", { memoryMb: 1_024, lookMs: 20 });
  const parent = start(`import { spawn } from "node:child_process";
    const child = spawn(process.execPath, ["--input-type=module", "-e", ${JSON.stringify(spins)}, String(process.pid)], { stdio: "inherit" });
    console.log(child.pid);
    setInterval(() => {}, 1_000);`);
  const [line] = (await once(parent.stdout!, "data")) as [Buffer];
  const pid = Number(String(line));
  expect(isThere(pid)).toBe(true);
  parent.kill("SIGKILL");
  await expect.poll(() => isThere(pid)).toBe(false);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // there is no such process
  }
}
