import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";

import { openTestPool } from "../../../test/support/hook-pool.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { POOL_LIMITS } from "./pool.ts";

const GOOD = `export default async function () { return { fire: true }; }`;
/** The deadline of Cortex itself, for tests that say when time goes on. */
const DEADLINE = { deadlineMs: POOL_LIMITS.deadlineMs };
/** And the silence of a process that is ended. */
const SPINNING = { ...DEADLINE, maxMissed: POOL_LIMITS.maxMissed };
const PATIENT = { interval: 5 };

/** The time of deadlines goes on only where a test says so, however long a process takes to start. */
function stopTime(): Disposable & { advance: (ms: number) => void } {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  return {
    advance: (ms) => void vi.advanceTimersByTime(ms),
    [Symbol.dispose]: () => void vi.useRealTimers(),
  };
}

test("a hook is called with the event and gives its result", async () => {
  await using hooks = openTestPool({
    "echo.ts": `import type { HookContext } from "cortexd/hooks";
      export const config = { limit: 3 };
      export default async function ({ event, hook, now, missed }: HookContext) {
        return { fire: true, context: { extracted: { id: event.id, hook, now, missed } } };
      }`,
  });
  const [outcome] = await hooks.ask(["echo"]);
  expect(outcome!.error).toBeUndefined();
  expect(outcome!.value).toEqual({
    fire: true,
    context: {
      extracted: {
        id: "telegram:1",
        hook: {
          id: "echo",
          name: "echo",
          created_at: 0,
          trigger_count: 0,
          last_triggered: null,
          config: { limit: 3 },
        },
        now: "2026-11-15T09:00:00.000Z",
        missed: null,
      },
    },
  });
});

test("many hooks share one process", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `h${i}`);
  await using hooks = openTestPool(Object.fromEntries(names.map((name) => [name, GOOD])));
  const outcomes = await hooks.ask(names);
  expect(outcomes.map(({ value }) => value)).toEqual(names.map(() => ({ fire: true })));
  expect(hooks.pool.processes).toBe(1);
});

test("what a hook throws is told with the place in its file, and the others are not affected", async () => {
  await using hooks = openTestPool({
    good: GOOD,
    "thrown.ts": `export default async function () {\n  throw new Error("no such thing");\n}`,
    text: `export default () => { throw "only a text"; }`,
  });
  const outcomes = await hooks.ask(["thrown", "good", "text"]);
  expect(outcomes.map(({ error }) => error)).toEqual([
    "Error: no such thing (thrown.ts:2:9)",
    undefined,
    'It threw "only a text"',
  ]);
});

test("a file that cannot be loaded says why", async () => {
  await using hooks = openTestPool({
    "broken.ts": `export default async function ( { return { fire: `,
    nothing: `export const x = 1;`,
    number: `export default 42;`,
    unhandled: `export const hook = { name: "x" };`,
    missing: `import "no-such-package"; ${GOOD}`,
    thrown: `throw new Error("while loading"); ${GOOD}`,
  });
  const outcomes = await hooks.ask(["broken", "nothing", "number", "unhandled", "missing", "thrown"]);
  const errors = outcomes.map(({ error }) => error);
  expect(errors[0]).toMatch(/SyntaxError.*broken\.ts/);
  expect(errors[1]).toContain("No default export");
  expect(errors[2]).toContain("a function or {handler, triggers}");
  expect(errors[3]).toContain("a function or {handler, triggers}");
  expect(errors[4]).toContain("Cannot find package 'no-such-package'");
  expect(errors[5]).toContain("while loading");
});

test("what Node does not take types out of, jiti does", async () => {
  await using hooks = openTestPool({
    "enums.ts": `import { cronMatches, type HookContext } from "cortexd/hooks";
      import Database from "better-sqlite3";
      enum Level { Low = 1, High = 2 }
      export default async function (ctx: HookContext) {
        const db = new Database(":memory:");
        const row = db.prepare("select 1 + 1 as two").get();
        return { fire: cronMatches("0 9 * * *", ctx.now), context: { extracted: { level: Level.High, row } } };
      }`,
  });
  const [outcome] = await hooks.ask(["enums"]);
  expect(outcome).toMatchObject({
    error: undefined,
    value: { fire: true, context: { extracted: { level: 2, row: { two: 2 } } } },
  });
});

test("a folder that npm has made commonjs holds modules all the same", async () => {
  await using hooks = openTestPool({ good: `import "./beside.js"; ${GOOD}` });
  writeFileSync(join(hooks.folder, "package.json"), `{"type": "commonjs"}`);
  writeFileSync(join(hooks.folder, "beside.js"), `export const x = 1;`);
  expect(await hooks.ask(["good"])).toMatchObject([{ value: { fire: true } }]);
});

const BY_AGENT = `/**
 * @name data
 * @origin agent
 */
import { writeFileSync } from "node:fs";
export const word: string = "run";
writeFileSync(new URL("run", import.meta.url), word);
`;

test.each([
  ["at once", `import { word } from "./data.ts"; export default () => ({ fire: word === "run" });`],
  ["later", `export default async () => ({ fire: (await import("./data.ts")).word === "run" });`],
  [
    "by jiti",
    `import { word } from "./data.ts"; enum Word { Run = 1 }
     export default () => ({ fire: word === "run" && Word.Run === 1 });`,
  ],
  [
    "with require",
    `import { createRequire } from "node:module";
     export default () => ({ fire: createRequire(import.meta.url)("./data.ts").word === "run" });`,
  ],
])("a file that an agent wrote is not imported by another hook, %s", async (_, source) => {
  await using hooks = openTestPool({ "importing.ts": source, "data.ts": BY_AGENT });
  const [outcome] = await hooks.ask(["importing"]);
  expect(outcome!.error).toContain("Cannot import data.ts: an agent wrote it");
  expect(existsSync(join(hooks.folder, "run"))).toBe(false);
});

test("in a folder that is a link, hooks import as in any other, except from agents", async () => {
  await using hooks = openTestPool({
    "good.ts": `import { cronMatches } from "cortexd/hooks"; import "./beside.ts";
      export default () => ({ fire: typeof cronMatches === "function" });`,
    "beside.ts": "export const x: number = 1;",
    "bad.ts": `import "./data.ts"; ${GOOD}`,
    "data.ts": BY_AGENT,
  });
  const real = `${hooks.folder}-elsewhere`;
  renameSync(hooks.folder, real);
  symlinkSync(real, hooks.folder);
  const [good, bad] = await hooks.ask(["good", "bad"]);
  expect(good).toMatchObject({ error: undefined, value: { fire: true } });
  expect(bad!.error).toContain("an agent wrote it");
});

test("packages come from the home, and from the program", async () => {
  await using hooks = openTestPool({
    uses: `import own from "own"; import { z } from "zod";
      export default () => ({ fire: true, context: { prompt: own + typeof z.string } });`,
  });
  const own = join(dirname(hooks.folder), "node_modules", "own");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "package.json"), `{"name": "own", "exports": "./own.mjs", "type": "module"}`);
  writeFileSync(join(own, "own.mjs"), `export default "mine ";`);
  expect(await hooks.ask(["uses"])).toMatchObject([{ value: { context: { prompt: "mine function" } } }]);
});

test("the database can be read and not written", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "cortex.db");
  await using _ = await openSqliteStore({ path, clock: Date.now });
  await using hooks = openTestPool(
    {
      reads: `import Database from "better-sqlite3";
        export default ({ dbPath }) => {
          const db = new Database(dbPath, { readonly: false });
          return { fire: db.prepare("select count(*) as n from events").get().n === 0 };
        }`,
      writes: `import Database from "better-sqlite3";
        export default ({ dbPath }) => {
          new Database(dbPath).exec("delete from event");
          return { fire: true };
        }`,
    },
    { dbPath: path },
  );
  const [reads, writes] = await hooks.ask(["reads", "writes"]);
  expect(reads).toMatchObject({ value: { fire: true } });
  expect(writes!.error).toContain("attempt to write a readonly database");
});

test("a hook that never ends has no result, and its signal is aborted", async () => {
  using time = stopTime();
  await using hooks = openTestPool(
    {
      waits: `export default ({ signal }) => new Promise(() => {
        signal.addEventListener("abort", () => { Promise.reject(new Error("was aborted")); });
      })`,
      good: GOOD,
    },
    { limits: DEADLINE },
  );
  const waits = hooks.ask(["waits"]);
  expect(await hooks.ask(["good"])).toMatchObject([{ value: { fire: true } }]);
  time.advance(POOL_LIMITS.deadlineMs);
  expect(await waits).toMatchObject([{ error: "The hook timed out after 10 s" }]);
  await expect.poll(() => hooks.late.join()).toContain("Error: was aborted");
  expect(hooks.pool.processes).toBe(1);
});

test("a process that carries along too many hooks that never ended is replaced", async () => {
  using time = stopTime();
  await using hooks = openTestPool(
    {
      waits: `export default () => new Promise(() => {})`,
      where: `export default () => ({ fire: true, context: { prompt: String(process.pid) } })`,
    },
    { limits: { ...DEADLINE, maxAbandoned: 2 } },
  );
  const where = async (): Promise<unknown> => (await hooks.ask(["where"]))[0]!.value;
  const abandon = async (): Promise<void> => {
    const waits = hooks.ask(["waits"]);
    time.advance(POOL_LIMITS.deadlineMs);
    await waits;
  };
  const first = await where();
  await abandon();
  await abandon();
  expect(await where()).toEqual(first);
  await abandon();
  expect(await where()).not.toEqual(first);
});

test("a hook that spins is stopped, and the others of its process have their results", async () => {
  using scene = spinning();
  const spins = `export default () => { ${scene.begin} for (;;); }`;
  await using hooks = openTestPool({ first: GOOD, spins, last: GOOD }, { limits: SPINNING });
  const [first, guilty, last] = hooks.askEach(["first", "spins", "last"]);
  await scene.silence(1);
  expect(await first).toMatchObject({ value: { fire: true }, error: undefined });
  expect(await last).toMatchObject({ value: { fire: true }, error: undefined });
  await scene.expiry(2); // alone, it has its whole time
  expect(await guilty).toMatchObject({ error: "The hook timed out after 10 s" });

  // From now on it runs alone: the others do not wait for anything.
  const again = hooks.ask(["spins"]);
  await scene.begun(3);
  expect(await hooks.ask(["first", "last"])).toMatchObject([
    { value: { fire: true } },
    { value: { fire: true } },
  ]);
  hooks.write("spins", GOOD);
  hooks.pool.reload(["spins"]);
  await scene.expiry(3);
  expect(await again).toMatchObject([{ error: "The hook timed out after 10 s" }]);
  expect(await hooks.ask(["spins"])).toMatchObject([{ value: { fire: true } }]);
});

test.each([
  [
    "where nothing can interrupt it",
    (begin: string) => `import Database from "better-sqlite3";
      export default () => {
        ${begin}
        const sql = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c";
        return { fire: new Database(":memory:").prepare(sql).pluck().get() === 0 };
      }`,
  ],
  ["while it is loaded", (begin: string) => `${begin} for (;;);\n${GOOD}`],
])("a hook that spins %s is stopped too", async (_, source) => {
  using scene = spinning();
  await using hooks = openTestPool({ spins: source(scene.begin), good: GOOD }, { limits: SPINNING });
  const [spins, good] = hooks.askEach(["spins", "good"]);
  await scene.silence(1);
  expect(await good).toMatchObject({ value: { fire: true } });
  await scene.expiry(2);
  expect(await spins).toMatchObject({ error: "The hook timed out after 10 s" });
});

/** Time that stands still while hooks spin, and goes on when they have begun to. */
function spinning(): Disposable & {
  /** What a hook does before it spins. */
  readonly begin: string;
  /** Waits until it has begun so many times. */
  begun(times: number): Promise<void>;
  /** Then lets the time pass after which a process that says nothing is ended. */
  silence(times: number): Promise<void>;
  /** Then lets the time of a hook pass. */
  expiry(times: number): Promise<void>;
} {
  const folder = temporaryFolder();
  const path = join(folder.path, "begun");
  writeFileSync(path, "");
  const time = stopTime();
  const begun = async (times: number): Promise<void> => {
    await expect.poll(() => readFileSync(path, "utf8").length, PATIENT).toBe(times);
    // Its process has said before that it is ready; while that is unread, it has far more time than is let pass here.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  };
  return {
    begin: `process.getBuiltinModule("node:fs").appendFileSync(${JSON.stringify(path)}, "x");`,
    begun,
    async silence(times) {
      await begun(times);
      time.advance((POOL_LIMITS.maxMissed + 2) * POOL_LIMITS.lookMs);
    },
    async expiry(times) {
      await begun(times);
      time.advance(POOL_LIMITS.deadlineMs);
    },
    [Symbol.dispose]() {
      time[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

test("process.exit in a hook ends no more than its own process, and is charged to the hook", async () => {
  await using hooks = openTestPool({
    exits: `export default async () => { process.exit(3); }`,
    good: `import { setTimeout } from "node:timers/promises";
      export default async () => { await setTimeout(50); return { fire: true }; }`,
  });
  const [exits, good] = await hooks.ask(["exits", "good"]);
  expect(exits!.error).toBe("The hook ended its process with process.exit(3)");
  expect(good).toMatchObject({ value: { fire: true } });
});

test.each([
  ["objects", `const kept = []; for (;;) kept.push(new Array(10_000).fill({}));`],
  // V8 compiles this one to code that cannot be interrupted.
  ["small objects", `const kept = []; for (;;) kept.push(new Array(1_000).fill({}));`],
  ["buffers", `const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1));`],
])("a hook that allocates %s without end is stopped", async (_, code) => {
  await using hooks = openTestPool(
    { leaks: `export default async () => { ${code} }`, good: GOOD },
    // Without a deadline that would stop it before.
    { limits: { memoryMb: 128, deadlineMs: 60_000, lookMs: 20 } },
  );
  const [leaks, good] = await hooks.ask(["leaks", "good"]);
  expect(leaks!.error).toMatch(/^The hook used more than \d+ MB of memory$/);
  expect(good).toMatchObject({ value: { fire: true } });
});

test("what fails after the result was given is reported and changes nothing", async () => {
  await using hooks = openTestPool({
    rejects: `export default async () => {
      setTimeout(() => Promise.reject(new Error("too late")), 1);
      return { fire: true };
    }`,
    throws: `export default async () => {
      setTimeout(() => { throw new Error("from a timer"); }, 1);
      return { fire: true };
    }`,
  });
  const outcomes = await hooks.ask(["rejects", "throws"]);
  expect(outcomes).toMatchObject([{ value: { fire: true } }, { value: { fire: true } }]);
  await expect.poll(() => hooks.late.join("\n")).toContain("rejects: Error: too late");
  await expect.poll(() => hooks.late.join("\n")).toContain("throws: Error: from a timer");
  expect(hooks.pool.processes).toBe(1);
});

test("what fails beside the hook before its result is given is its error", async () => {
  await using hooks = openTestPool({
    drops: `export default () => new Promise(() => { setTimeout(() => { throw new Error("dropped"); }, 1); })`,
  });
  expect((await hooks.ask(["drops"]))[0]!.error).toContain("Error: dropped");
});

test("results that JSON has no form for, or that are too long, are errors", async () => {
  await using hooks = openTestPool({
    circle: `export default () => { const a = { fire: true }; a.a = a; return a; }`,
    big: `export default () => ({ fire: true, context: { prompt: "x".repeat(300_000) } })`,
    bigint: `export default () => ({ fire: 1n })`,
  });
  const [circle, big, bigint] = await hooks.ask(["circle", "big", "bigint"]);
  expect(circle!.error).toContain("circular");
  expect(big!.error).toContain("limit 262144");
  expect(bigint!.error).toContain("BigInt");
});

test("what a hook asks for is answered, refused, and counted", async () => {
  const services = {
    query: async (sql: string, params: readonly unknown[]) => [{ sql, params }],
    search: async () => {
      throw new Error("no search today");
    },
    llm: async (prompt: string) => ({ text: `${prompt}!`, costUsd: 0.25 }),
  };
  await using hooks = openTestPool(
    {
      asks: `export default async ({ query, search, llm }) => {
        const rows = await query("select ?", [1]);
        const found = await search("x").catch((error) => error.message);
        const said = [await llm("one"), await llm("two")];
        const odd = await query(() => {}).catch((error) => error.name);
        return { fire: true, context: { extracted: { rows, found, said, odd } } };
      }`,
    },
    { services },
  );
  const [outcome] = await hooks.ask(["asks"]);
  expect(outcome).toMatchObject({ error: undefined, llmCalls: 2, costUsd: 0.5 });
  expect(outcome!.value).toMatchObject({
    context: {
      extracted: {
        rows: [{ sql: "select ?", params: [1] }],
        found: "no search today",
        said: ["one!", "two!"],
        odd: "Error",
      },
    },
  });
});

test("a hook that asks a model has more time", async () => {
  using time = stopTime();
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using hooks = openTestPool(
    { asks: `export default async ({ llm }) => ({ fire: true, context: { prompt: await llm("x") } })` },
    {
      services: {
        llm: async () => {
          asked.resolve();
          await answer.promise;
          return { text: "slow", costUsd: null };
        },
      },
    },
  );
  const outcome = hooks.ask(["asks"]);
  await asked.promise;
  time.advance(POOL_LIMITS.llmDeadlineMs - 1);
  answer.resolve();
  expect(await outcome).toMatchObject([
    { error: undefined, costUsd: null, value: { context: { prompt: "slow" } } },
  ]);
});

test("a time zone that has changed counts at once", async () => {
  let timezone = "UTC";
  await using hooks = openTestPool(
    {
      nine: `import { cronMatches } from "cortexd/hooks";
        export default ({ now }) => ({ fire: cronMatches("0 9 * * *", now) });`,
    },
    { timezone: () => timezone },
  );
  expect(await hooks.ask(["nine"])).toMatchObject([{ value: { fire: true } }]);
  timezone = "Europe/Berlin";
  expect(await hooks.ask(["nine"])).toMatchObject([{ value: { fire: false } }]);
});

test("a changed file is read anew, with what it imports", async () => {
  await using hooks = openTestPool({
    "main.ts": `import { word } from "./beside.ts"; export default () => ({ fire: true, context: { prompt: word } });`,
    "beside.ts": `export const word = "before";`,
  });
  expect(await hooks.ask(["main"])).toMatchObject([{ value: { context: { prompt: "before" } } }]);
  hooks.write("beside.ts", `export const word = "after";`);
  hooks.pool.reload([]);
  expect(await hooks.ask(["main"])).toMatchObject([{ value: { context: { prompt: "after" } } }]);
});

test("a process is replaced after many calls, and none of them is lost", async () => {
  await using hooks = openTestPool(
    { counts: `let n = 0; export default () => ({ fire: true, context: { extracted: ++n } })` },
    { limits: { callsPerLane: 2 } },
  );
  const counts: unknown[] = [];
  for (let i = 0; i < 7; i++) {
    const [outcome] = await hooks.ask(["counts"]);
    counts.push((outcome!.value as { context: { extracted: number } }).context.extracted);
  }
  expect(counts).toEqual([1, 2, 3, 1, 2, 3, 1]);
});

test("a pool that is closed passes over what it has not done", async () => {
  const hooks = openTestPool({ waits: `export default () => new Promise(() => {})` });
  const asked = hooks.ask(["waits"]);
  await hooks[Symbol.asyncDispose]();
  expect(await asked).toMatchObject([{ isPassedOver: true, error: undefined }]);
  expect(await hooks.ask(["waits"])).toMatchObject([{ isPassedOver: true }]);
});

test("processes stay warm for a while after an event, and are gone when none has come", async () => {
  let nowMs = 0;
  let looks = 0;
  const clock = (): number => {
    looks++;
    return nowMs;
  };
  await using hooks = openTestPool({ good: GOOD }, { clock, limits: { lookMs: 5 } });
  await hooks.ask(["good"]);
  nowMs = POOL_LIMITS.warmMs - 1;
  await hooks.ask(["good"]);
  nowMs += POOL_LIMITS.warmMs - 1;
  const before = looks;
  await expect.poll(() => looks, PATIENT).toBeGreaterThan(before + 2);
  expect(hooks.pool.processes).toBe(1);
  nowMs += 1;
  await expect.poll(() => hooks.pool.processes, PATIENT).toBe(0);
  expect(await hooks.ask(["good"])).toMatchObject([{ value: { fire: true } }]);
});

test("a process that has only said what a file exports is not kept", async () => {
  await using hooks = openTestPool({ good: GOOD }, { limits: { lookMs: 5 } });
  await hooks.pool.inspect({ name: "good", path: join(hooks.folder, "good.js") });
  await expect.poll(() => hooks.pool.processes, PATIENT).toBe(0);
});

test("a file says what it exports", async () => {
  await using hooks = openTestPool({
    simple: `export const filter = { channels: ["email"], match: /invoice/i }; ${GOOD}`,
    whole: `export const hook = { name: "Whole", description: "d", mode: "one-shot",
      triggers: { event: { channels: ["sms"], direction: "inbound" } }, config: { a: 1 },
      handler() { return { fire: true, context: { extracted: this.config } }; } };`,
  });
  const inspect = (name: string) => hooks.pool.inspect({ name, path: join(hooks.folder, `${name}.js`) });
  expect(await inspect("simple")).toEqual({
    inspected: { filter: { channels: ["email"], match: "(?i)invoice" } },
  });
  expect(await inspect("whole")).toEqual({
    inspected: {
      title: "Whole",
      description: "d",
      mode: "one-shot",
      filter: { channels: ["sms"], directions: ["received"] },
    },
  });
  expect(await hooks.ask(["whole"])).toMatchObject([{ value: { context: { extracted: { a: 1 } } } }]);
});
