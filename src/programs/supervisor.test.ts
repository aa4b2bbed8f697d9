import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import type { ResourceLimits } from "../model/bounds.ts";
import { readProcess } from "./proc.ts";
import { type GroupEnd, runGroup } from "./run-group.ts";
import { CALL_VARIABLE, shellLimits } from "./shell-limits.ts";
import { Supervisor } from "./supervisor.ts";

const LIMITS: ResourceLimits = {
  memoryMb: 512,
  processes: 50,
  cpuSeconds: 60,
  openFiles: 256,
  fileMb: 4,
};

interface Options {
  readonly limits?: Partial<ResourceLimits>;
  readonly supervisor?: Supervisor;
  readonly diskExceeded?: () => Promise<string | undefined>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

function folder(): string {
  const made = temporaryFolder();
  onTestFinished(() => made[Symbol.dispose]());
  return made.path;
}

async function run(script: string, at: string, options: Options = {}): Promise<GroupEnd & { text: string }> {
  const limits = { ...LIMITS, ...options.limits };
  let text = "";
  const end = await runGroup({
    file: "/bin/sh",
    args: ["-c", `${shellLimits(limits)}exec bash -c "$0"`, script],
    environment: { PATH: "/usr/bin:/bin" },
    folder: at,
    watch: (options.supervisor ?? new Supervisor(at)).watch({
      agent: "main",
      limits,
      diskExceeded: options.diskExceeded ?? (async () => undefined),
      memoryFolders: [],
    }),
    signal: options.signal ?? new AbortController().signal,
    timeoutMs: options.timeoutMs ?? 30_000,
    graceMs: 1_000,
    drainMs: 50,
    onOutput: async (chunk) => void (text += chunk.toString()),
  });
  return { ...end, text };
}

function pidIn(path: string): number {
  return Number(readFileSync(path, "utf8"));
}

/** A zombie is not: nobody may be there to bury it. */
function isRunning(pid: number): boolean {
  return readProcess(pid) !== undefined;
}

const isLinux = process.platform === "linux";

test.runIf(isLinux).each([
  ["setsid", "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while [ ! -s pid ]; do :; done"],
  ["nohup", "nohup sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 & while [ ! -s pid ]; do :; done"],
  [
    "a double fork",
    "( setsid sh -c '(echo $BASHPID; exec sleep 1000) & echo $! > pid; exit' & ); while [ ! -s pid ]; do :; done",
  ],
  [
    "a daemon that ignores SIGTERM",
    "setsid bash -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' & while [ ! -s pid ]; do :; done",
  ],
  [
    "a process without the marker, while its parent runs",
    "setsid sh -c 'env -i setsid sh -c \"echo \\$\\$ > pid; exec sleep 1000\" & wait' & while [ ! -s pid ]; do :; done; sleep 0.5",
  ],
  [
    "a process that drops the marker, its session and its parent at once",
    "(setsid env -i sh -c 'sleep 1000 & echo $! > pid' &); while [ ! -s pid ]; do :; done",
  ],
])("%s does not outlive its command", async (_, script) => {
  const at = folder();
  const end = await run(script, at);
  expect(end).toMatchObject({ exitCode: 0, stopped: undefined });
  expect(isRunning(pidIn(join(at, "pid")))).toBe(false);
});

test.runIf(isLinux)("a command that times out ends with what left its group", async () => {
  const at = folder();
  const script = "setsid sh -c 'echo $$ > pid; exec sleep 1000' & sleep 1000";
  const end = await run(script, at, { timeoutMs: 500 });
  expect(end).toMatchObject({ stopped: "timeout" });
  expect(isRunning(pidIn(join(at, "pid")))).toBe(false);
});

test.runIf(isLinux)("a process that left the group is first asked to end", async () => {
  const at = folder();
  const script =
    "setsid bash -c 'trap \"echo bye > said; exit\" TERM; echo $$ > pid; while :; do sleep 0.05; done' & while [ ! -s pid ]; do :; done";
  await run(script, at);
  expect(readFileSync(join(at, "said"), "utf8")).toBe("bye\n");
});

test.runIf(isLinux)("a command that takes too much memory is ended, and says so", async () => {
  const hog = `python3 -c 'import time
kept = []
while True:
    kept.append(bytearray(8 * 1024 * 1024))
    time.sleep(0.02)'; echo went on`;
  const end = await run(hog, folder(), { limits: { memoryMb: 64 } });
  expect(end.limit).toBe(
    "Command killed: it used more than 64 MB of memory. (Limit `memoryMb`: 64, in the agent's `limits`.)",
  );
  expect(end.text).toBe("");
});

test.runIf(isLinux)("memory that grows faster than anyone looks is refused by the system", async () => {
  const hog = "python3 -c 'bytearray(2 * 1024 ** 3)' 2>&1 | tail -1";
  const end = await run(hog, folder(), { limits: { memoryMb: 64 } });
  expect(end.text).toBe("MemoryError\n");
});

test.runIf(isLinux)("pages that processes share count once", async () => {
  const script = `python3 -c '
import os, time
kept = bytearray(os.urandom(1024 * 1024)) * 64
for _ in range(6):
    if os.fork() == 0: time.sleep(1); os._exit(0)
time.sleep(1)
print("done")'`;
  const end = await run(script, folder(), { limits: { memoryMb: 160 } });
  expect(end.limit).toBeUndefined();
  expect(end.text).toBe("done\n");
});

test.runIf(isLinux)("a command that starts too many processes is ended with all of them", async () => {
  const at = folder();
  const script = "for i in {1..200}; do setsid sh -c 'echo $$ >> pids; exec sleep 1000' & done; wait";
  const end = await run(script, at);
  expect(end.limit).toBe(
    "Command killed: it used more than 50 processes. (Limit `processes`: 50, in the agent's `limits`.)",
  );
  const pids = readFileSync(join(at, "pids"), "utf8").trim().split("\n").map(Number);
  expect(pids.length).toBeGreaterThan(0); // those that came to say theirs
  expect(pids.filter(isRunning)).toEqual([]);
});

test.runIf(isLinux)(
  "a command that takes too much CPU time is ended, also over several processes",
  async () => {
    const script = "for i in 1 2 3; do (while :; do :; done) & done; wait";
    const end = await run(script, folder(), { limits: { cpuSeconds: 1 } });
    expect(end.limit).toBe(
      "Command killed: it used more than 1 s of CPU time. (Limit `cpuSeconds`: 1, in the agent's `limits`.)",
    );
  },
);

test("a file that grows without end is cut off", async () => {
  const at = folder();
  const end = await run("cat /dev/zero > file; echo $?", at);
  expect(end.text).toBe("153\n"); // SIGXFSZ
  expect(readFileSync(join(at, "file")).length).toBe(LIMITS.fileMb * 1024 ** 2);
});

test.runIf(isLinux)("a command is ended when the disk has no more room for it", async () => {
  let looks = 0;
  const end = await run("sleep 1000", folder(), {
    diskExceeded: async () => (++looks === 2 ? "The workspace is full." : undefined),
  });
  expect(end.limit).toBe("The workspace is full.");
});

test.runIf(isLinux)("the commands of an agent share its limits, and the largest is ended", async () => {
  const at = folder();
  const supervisor = new Supervisor(at);
  const sleepers = (count: number): string =>
    `for i in {1..${count}}; do sleep 1000 & done; touch ${count}; wait`;
  const stop = new AbortController();
  const [small, large] = await Promise.all([
    run(sleepers(20), at, { supervisor, signal: stop.signal }),
    run(sleepers(35), at, { supervisor }).finally(() => stop.abort()),
  ]);
  expect(large.limit).toBe(
    "Command killed: it used more than 50 processes, together with the agent's other commands. " +
      "(Limit `processes`: 50, in the agent's `limits`.)",
  );
  expect(small).toMatchObject({ stopped: "aborted" });
});

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) if (isRunning(pid)) process.kill(pid, "SIGKILL");
});

/** A process that a Cortex on a home has left behind. */
function leftover(environment: Readonly<Record<string, string>>, command = "exec sleep 1000"): number {
  const child = spawn("/bin/sh", ["-c", command], {
    detached: true,
    stdio: "ignore",
    env: { ...environment },
  });
  const pid = child.pid!;
  started.push(pid);
  return pid;
}

test.runIf(isLinux)("leftovers of this home are killed at the start, those of other homes stay", async () => {
  const [home, other] = [folder(), folder()];
  const marked = (at: string): Readonly<Record<string, string>> =>
    new Supervisor(at).watch({
      agent: "main",
      limits: LIMITS,
      diskExceeded: async () => undefined,
      memoryFolders: [],
    }).environment;
  const own = leftover({ PATH: "/usr/bin:/bin", ...marked(home) });
  const withoutVariable = leftover(
    { PATH: "/usr/bin:/bin", ...marked(home) },
    `${shellLimits(LIMITS)}exec env -i sleep 1000`,
  );
  await expect
    .poll(() => readFileSync(`/proc/${withoutVariable}/cmdline`, "utf8"), { timeout: 10_000 })
    .toBe("sleep\u00001000\u0000");
  const foreign = leftover({ PATH: "/usr/bin:/bin", ...marked(other) });
  const unmarked = leftover({
    PATH: "/usr/bin:/bin",
    OTHER: `${CALL_VARIABLE}=${marked(home)[CALL_VARIABLE]}`,
  });
  const lines: string[] = [];
  await new Supervisor(home).endLeftovers((line) => lines.push(line));
  const said = [own, withoutVariable].map(
    (pid) => `Killing process ${pid}, left behind by a command when Cortex was killed`,
  );
  expect(lines.toSorted()).toEqual(said.toSorted());
  expect([own, withoutVariable, foreign, unmarked].map(isRunning)).toEqual([false, false, true, true]);
});
