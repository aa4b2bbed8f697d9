import { expect, test } from "vitest";

import {
  answerOf,
  isRunning,
  journalOf,
  openPool,
  processAgent,
  program,
  runTurn,
  type TestPool,
} from "../../../test/support/sub-agents.ts";
import type { Child } from "./child.ts";

const NEVER = new AbortController().signal;

async function acquire({ pool }: TestPool, command?: readonly string[]): Promise<Child> {
  return (await pool.acquire({ command }, NEVER))!;
}

test("there are no more processes than there may be, and who comes first is first", async () => {
  await using pool = openPool({ maxProcesses: () => 2 });
  const [first, second] = [await acquire(pool), await acquire(pool)];
  const order: string[] = [];
  const third = acquire(pool).then((child) => (order.push("third"), child));
  const fourth = acquire(pool).then((child) => (order.push("fourth"), child));
  await expect.poll(() => pool.pool.counts).toEqual({ busy: 2, kept: 0, waiting: 2 });

  pool.pool.release(first, { isAtWork: false });
  expect((await third).pid).toBe(first.pid);
  expect(order).toEqual(["third"]);
  pool.pool.release(second, { isAtWork: false });
  expect((await fourth).pid).toBe(second.pid);
});

test("who waits for a process can give up, and those after come no later", async () => {
  await using pool = openPool({ maxProcesses: () => 1 });
  const first = await acquire(pool);
  const abort = new AbortController();
  const second = pool.pool.acquire({}, abort.signal);
  const third = acquire(pool);
  await expect.poll(() => pool.pool.counts.waiting).toBe(2);
  abort.abort();
  expect(await second).toBeUndefined();
  pool.pool.release(first, { isAtWork: false });
  expect((await third).pid).toBe(first.pid);
});

test("a turn that waits for a process is not stuck, and can be aborted", async () => {
  await using pool = openPool({ maxProcesses: () => 1 });
  await acquire(pool);
  const abort = new AbortController();
  const result = await runTurn(processAgent(pool), journalOf("x"), {
    signal: abort.signal,
    onProgress: () => abort.abort(),
  });
  expect(result).toEqual({ kind: "aborted", partial: undefined });
});

test("a child that is done works for the next turn, and only so many are kept", async () => {
  await using pool = openPool({ warm: () => 1 });
  const [first, second] = [await acquire(pool), await acquire(pool)];
  pool.pool.release(first, { isAtWork: false });
  pool.pool.release(second, { isAtWork: false });
  await second.exited;
  expect((await acquire(pool)).pid).toBe(first.pid);
  expect(pool.pool.counts).toMatchObject({ busy: 1, kept: 0 });
});

test("a child that was not done is not kept, nor is a program of somebody else", async () => {
  await using pool = openPool();
  const own = await acquire(pool);
  pool.pool.release(own, { isAtWork: true });
  await own.exited;
  const other = await acquire(pool, program("program.mjs"));
  pool.pool.release(other, { isAtWork: false });
  await other.exited;
  expect(pool.pool.counts.kept).toBe(0);
});

test("a child that nobody needs is ended after a while", async () => {
  await using pool = openPool({ warmMs: () => 1 });
  const child = await acquire(pool);
  pool.pool.release(child, { isAtWork: false });
  await child.exited;
  expect(pool.pool.counts.kept).toBe(0);
});

test("a child that ends while it is kept is not given to anybody", async () => {
  await using pool = openPool();
  const child = await acquire(pool);
  pool.pool.release(child, { isAtWork: false });
  process.kill(child.pid, "SIGKILL");
  await child.exited;
  expect((await acquire(pool)).pid).not.toBe(child.pid);
});

test("one that is kept makes room where all places are taken", async () => {
  await using pool = openPool({ maxProcesses: () => 1 });
  const own = await acquire(pool);
  pool.pool.release(own, { isAtWork: false });
  await acquire(pool, program("program.mjs"));
  expect(own.hasExited).toBe(true);
});

test("fifty turns at once are all answered by the few processes that there may be", async () => {
  await using pool = openPool();
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, n) =>
      answerOf(await runTurn(processAgent(pool), journalOf(`hello ${n}`))),
    ),
  );
  expect(new Set(answers.map(({ content }) => content.includes("offline model")))).toEqual(new Set([true]));
  expect(pool.pool.counts).toMatchObject({ busy: 0, waiting: 0 });
});

test("nothing is left when it is closed, and nothing is started any more", async () => {
  await using pool = openPool({ times: { termMs: 100 } });
  const deaf = program("bad.mjs", "ignores SIGTERM");
  const children = [await acquire(pool), await acquire(pool), await acquire(pool, deaf)];
  pool.pool.release(children[0]!, { isAtWork: false });
  await pool.pool[Symbol.asyncDispose]();
  expect(children.map(({ pid }) => isRunning(pid))).toEqual([false, false, false]);
  await expect(acquire(pool)).rejects.toMatchObject({ code: "sub_agent_failed", transient: true });
});

test("who waits for a process when it is closed, is refused", async () => {
  await using pool = openPool({ maxProcesses: () => 1 });
  const starting = acquire(pool);
  const waiting = acquire(pool);
  const refused = Promise.allSettled([starting, waiting]);
  await expect.poll(() => pool.pool.counts.waiting).toBe(1);
  await pool.pool[Symbol.asyncDispose]();
  expect((await refused)[1]).toMatchObject({ reason: { code: "sub_agent_failed" } });
});
