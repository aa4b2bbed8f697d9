import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { loadFiles } from "../../../test/support/config-home.ts";
import { openTestStore } from "../../../test/support/open-store.ts";
import { alice, event, session, toSession } from "../../../test/support/sample.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { HOUR_MS, MINUTE_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import { dispatchIds, type EventId } from "../../model/ids.ts";
import {
  CIRCUIT_ERRORS,
  CIRCUIT_REST_MS,
  type Claim,
  type HookRun,
  type LeaseRequest,
  type NewEvent,
  type Store,
} from "../../store/store.ts";
import { Catalogue } from "./catalogue.ts";
import { type DispatchFor, Judge, MAX_HOLD_MS, MAX_JUDGING } from "./judge.ts";
import { HookPool, type PoolLimits } from "../run/pool.ts";

const FIRES = `export default async () => ({ fire: true, routing: { session: "work" } });`;
const SILENT = `export default async () => ({ fire: false });`;

type Act<Result> = (
  request: LeaseRequest | undefined,
) => Promise<{ result: Result; claim: Claim | undefined }>;

/** A store, a folder of hooks, and what judges events by them; it can be ended as by a crash and begin again. */
async function openScene(
  hooks: Readonly<Record<string, string>>,
  limits: Partial<PoolLimits> = {},
  startRelay = async (_scene: { readonly folder: string; readonly store: Store }): Promise<void> => {},
) {
  const opened = await openTestStore();
  const temporary = temporaryFolder();
  const folder = join(temporary.path, "hooks");
  mkdirSync(folder);
  /** Plain JavaScript: a process has it loaded in half the time. */
  const write = (name: string, source: string): void => writeFileSync(join(folder, `${name}.js`), source);
  for (const [name, source] of Object.entries(hooks)) write(name, source);
  const paused: string[] = [];
  const problems: unknown[] = [];
  /** How much of an event was recorded when its chain was told to be at its end. */
  const endings: number[] = [];
  let ids = 0;
  const { config } = await loadFiles({ "cortex.json": { timezone: "UTC", hooks: { gatherMs: 200 } } });

  const begin = async () => {
    const { store, clock } = opened;
    const refuse = async (): Promise<never> => {
      throw new Error("not in this test");
    };
    const pool = new HookPool({
      data: { folder, dbPath: null },
      timezone: () => "UTC",
      clock,
      services: { query: refuse, search: refuse, llm: refuse },
      onLate: () => {},
      limits,
    });
    const catalogue = new Catalogue(folder, store, pool);
    const dispatchFor: DispatchFor = async (_, _hook, { destination, context }) => {
      if (destination.kind === "relay") return startRelay({ folder, store }).then(() => undefined);
      const label = destination.kind === "session" ? destination.session : "main";
      const ofHook = dispatchIds(() => `${process.pid}-${++ids}`);
      return { ...ofHook, target: toSession(label), mode: "followup", context };
    };
    const ports = {
      store,
      clock,
      settings: { config: () => config },
      slots: { withSlot: async <Result>(act: Act<Result>) => (await act(undefined)).result },
      onChainEnded: async (id: EventId) => {
        for (let write = 0; write < 10; write++) await store.events.index(1); // it takes its time
        endings.push((await store.hooks.ofEvent(id)).length);
      },
      log(line: string) {
        const name = /^Hook (\S+) is paused/.exec(line)?.[1];
        if (name === undefined) problems.push(line);
        else paused.push(name);
      },
    };
    const judge = new Judge(ports, { catalogue, pool, dispatchFor });
    await catalogue.sync();
    return { pool, catalogue, judge };
  };
  let parts = await begin();
  return {
    write,
    paused,
    problems,
    endings,
    clock: opened.clock,
    get store(): Store {
      return opened.store;
    },
    get catalogue() {
      return parts.catalogue;
    },
    start: () => parts.judge.start(),
    /** Lets a hook answer that waits for this. */
    release: () => writeFileSync(join(folder, "recorded"), ""),
    async accept(name: string, fields: Partial<NewEvent> = {}): Promise<EventId> {
      const made = event(name, fields);
      await opened.store.events.accept(made, { judge: true });
      return made.id;
    },
    /** What hooks said of an event, when all have been heard. */
    async judged(id: EventId): Promise<readonly HookRun[]> {
      await expect
        .poll(async () => (await opened.store.hooks.unjudged()).map(({ event }) => event.id))
        .not.toContain(id);
      return opened.store.hooks.ofEvent(id);
    },
    async crash() {
      await opened.crash();
      await parts.pool[Symbol.asyncDispose]();
      await parts.judge[Symbol.asyncDispose]();
      parts = await begin();
    },
    async [Symbol.asyncDispose]() {
      const over = parts.judge[Symbol.asyncDispose]();
      await parts.pool[Symbol.asyncDispose]();
      await over;
      await opened[Symbol.asyncDispose]();
      temporary[Symbol.dispose]();
    },
  };
}

test("every hook judges every event, and what each said is recorded", async () => {
  await using scene = await openScene({ fires: FIRES, silent: SILENT });
  scene.start();
  const runs = await scene.judged(await scene.accept("a"));
  expect(runs.map(({ hook, fired, error }) => ({ hook, fired, error }))).toEqual([
    { hook: "fires", fired: true, error: undefined },
    { hook: "silent", fired: false, error: undefined },
  ]);
  expect(await scene.store.queue.pending(session("work"))).toHaveLength(1);
});

/** Answers when the relay of another hook is being started, and says so. */
const WHEN_STARTING = `import { existsSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
export default async () => {
  while (!existsSync(import.meta.dirname + "/starting")) await setTimeout(2);
  writeFileSync(import.meta.dirname + "/answered", "");
  return { fire: true, routing: { session: "work" } };
};`;
const BUILDS = `export default () => ({ fire: true, exclusive: true, routing: { relay: "build" } });`;

test("a turn waits for a hook that has answered and is still starting its relay", async () => {
  const waits: number[] = [];
  await using scene = await openScene({ builds: BUILDS, other: WHEN_STARTING }, {}, async (at) => {
    writeFileSync(join(at.folder, "starting"), "");
    const pending = () => at.store.queue.pending(session("work"));
    await expect.poll(async () => (await pending()).length).toBe(1);
    for (const { dueMs, queuedAtMs } of await pending()) waits.push(dueMs - queuedAtMs);
  });
  scene.start();
  await scene.judged(await scene.accept("a"));
  expect(waits).toEqual([200]);
});

test("a default hook is silenced by an exclusive one whose relay takes long to start", async () => {
  await using scene = await openScene({ builds: BUILDS, "default-other": WHEN_STARTING }, {}, async (at) => {
    writeFileSync(join(at.folder, "starting"), "");
    await expect.poll(() => existsSync(join(at.folder, "answered"))).toBe(true);
    await at.store.counts(); // what was to be recorded at once is recorded by now
  });
  scene.start();
  const id = await scene.accept("a");
  expect((await scene.judged(id)).map(({ hook, fired }) => [hook, fired])).toEqual([
    ["builds", true],
    ["default-other", true],
  ]);
  expect(await scene.store.events.dispatches(id)).toEqual([]);
});

test("the end of a chain is told before it is recorded, so that a crash in between cannot hide it", async () => {
  const atItsEnd = new CortexError("chain_ended", "The event chain reached its limit", {
    hint: "Raise the limit.",
  });
  await using scene = await openScene({ builds: BUILDS }, {}, () => Promise.reject(atItsEnd));
  scene.start();
  expect(await scene.judged(await scene.accept("a"))).toMatchObject([{ hook: "builds", fired: false }]);
  expect(scene.endings).toEqual([0]);
});

/** Exclusive, and answers when another hook's message waits already. */
const BUILDS_LATER = `import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
export default async () => {
  while (!existsSync(import.meta.dirname + "/recorded")) await setTimeout(2);
  return { fire: true, exclusive: true, routing: { relay: "build" } };
};`;

test("a default hook that has answered first is silenced by an exclusive one whose relay takes long to start", async () => {
  const begun: unknown[] = [];
  await using scene = await openScene({ builds: BUILDS_LATER, "default-other": FIRES }, {}, async (at) => {
    scene.clock.advance(MAX_HOLD_MS - 1);
    begun.push(...(await at.store.queue.lease(alice, 1)));
  });
  scene.start();
  const id = await scene.accept("a");
  await expect.poll(() => scene.store.queue.pending(session("work"))).toHaveLength(1);
  scene.release();
  expect((await scene.judged(id)).map(({ hook, fired }) => [hook, fired])).toEqual([
    ["builds", true],
    ["default-other", true],
  ]);
  expect(begun).toEqual([]);
  expect(await scene.store.events.dispatches(id)).toMatchObject([
    { hook: "default-other", outcome: "silenced" },
  ]);
});

test("an exclusive hook whose relay does not start silences nobody, and the default hook's turn begins then", async () => {
  await using scene = await openScene({ builds: BUILDS_LATER, "default-other": FIRES }, {}, async () => {
    throw new CortexError("template_unknown", "There is no such template", { hint: "Name another." });
  });
  scene.start();
  const id = await scene.accept("a");
  await expect.poll(() => scene.store.queue.pending(session("work"))).toHaveLength(1);
  scene.release();
  expect((await scene.judged(id)).map(({ hook, fired }) => [hook, fired])).toEqual([
    ["builds", false],
    ["default-other", true],
  ]);
  expect(await scene.store.queue.lease(alice, 1)).toHaveLength(1);
});

test("a default hook that is silenced starts no relay", async () => {
  let started = 0;
  await using scene = await openScene(
    { builds: BUILDS, "default-other": WHEN_STARTING.replace(`session: "work"`, `relay: "other"`) },
    {},
    async (at) => {
      if (++started > 1) return;
      writeFileSync(join(at.folder, "starting"), "");
      await expect.poll(() => existsSync(join(at.folder, "answered"))).toBe(true);
    },
  );
  scene.start();
  expect((await scene.judged(await scene.accept("a"))).map(({ fired }) => fired)).toEqual([true, true]);
  expect(started).toBe(1);
});

test("what hooks do wrong is theirs alone", async () => {
  await using scene = await openScene({
    "bad-session": `export default () => ({ fire: true, routing: { session: "no good key!" } });`,
    "no-export": `import type { HookContext } from "cortexd/hooks";`,
    fires: FIRES,
    nonsense: `export default () => "yes";`,
    rejects: `export default () => Promise.reject(new Error("not today"));`,
    syntax: `export default async function ( {`,
    "two-targets": `export default () => ({ fire: true, routing: { session: "a", persona: "b" } });`,
  });
  scene.start();
  const runs = await scene.judged(await scene.accept("a"));
  const said = Object.fromEntries(runs.map(({ hook, error }) => [hook, error]));
  expect(Object.keys(said)).toEqual(["bad-session", "fires", "nonsense", "rejects", "two-targets"]);
  expect(said["fires"]).toBeUndefined();
  expect(said["bad-session"]).toContain('Invalid session key "no good key!"');
  expect(said["nonsense"]).toContain('got "yes"');
  expect(said["rejects"]).toContain("Error: not today");
  expect(said["two-targets"]).toContain("session and persona");
  const errored = (await scene.store.hooks.list()).filter(({ state }) => state === "errored");
  expect(errored.map(({ name }) => name)).toEqual(["no-export", "syntax"]);
});

test("a hook that fires is not kept waiting by one that does not end", async () => {
  await using scene = await openScene({ fires: FIRES, never: `export default () => new Promise(() => {});` });
  scene.start();
  const id = await scene.accept("a");
  await expect.poll(() => scene.store.events.dispatches(id)).toHaveLength(1);
  expect((await scene.store.hooks.unjudged()).map(({ event }) => event.id)).toEqual([id]);
});

test("so many events are judged at the same time, and the others when there is room", async () => {
  using folder = temporaryFolder();
  const [asked, released] = [join(folder.path, "asked"), join(folder.path, "released")];
  writeFileSync(asked, "");
  await using scene = await openScene(
    {
      holds: `import { appendFileSync, existsSync } from "node:fs";
        import { setTimeout } from "node:timers/promises";
        let opened;
        const open = async () => { while (!existsSync(${JSON.stringify(released)})) await setTimeout(20); };
        export default async () => {
          appendFileSync(${JSON.stringify(asked)}, "x");
          await (opened ??= open());
          return { fire: false };
        };`,
    },
    { deadlineMs: 60_000 },
  );
  const names = Array.from({ length: MAX_JUDGING + 1 }, (_, i) => `e${i}`);
  const ids = await Promise.all(names.map((name) => scene.accept(name)));
  scene.start();
  const countAsked = () => readFileSync(asked, "utf8").length;
  await expect.poll(countAsked).toBe(MAX_JUDGING);
  await scene.accept("another"); // which wakes it, though there is no room
  expect(countAsked()).toBe(MAX_JUDGING);
  writeFileSync(released, "");
  await expect.poll(() => scene.store.hooks.unjudged()).toEqual([]);
  expect(await scene.store.hooks.ofEvent(ids.at(-1)!)).toMatchObject([{ hook: "holds", fired: false }]);
});

test("a hook that spins keeps no other event from being judged", async () => {
  await using scene = await openScene(
    {
      spins: `export default ({ event }) => { if (event.content === "spin") for (;;); return { fire: false }; };`,
      fires: FIRES,
    },
    { deadlineMs: 6_000, lookMs: 50 },
  );
  scene.start();
  const spun = await scene.accept("a", { content: "spin" });
  await expect.poll(() => scene.store.events.dispatches(spun)).toHaveLength(1);
  const next = await scene.accept("b");
  expect(await scene.judged(next)).toHaveLength(2);
  const runs = await scene.judged(spun);
  expect(runs.map(({ hook, error }) => [hook, error])).toEqual([
    ["fires", undefined],
    ["spins", "The hook timed out after 6 s"],
  ]);
});

test("an event that a crash left is judged again, and no hook that has judged it is asked again", async () => {
  using counts = temporaryFolder();
  const counting = (name: string, result: string): string => `import { appendFileSync } from "node:fs";
    export default () => { appendFileSync(${JSON.stringify(join(counts.path, name))}, "x"); return ${result}; };`;
  await using scene = await openScene({
    fires: counting("fires", `{ fire: true, routing: { session: "work" } }`),
    silent: counting("silent", `{ fire: false }`),
  });
  const id = await scene.accept("a"); // nobody judges yet
  await scene.store.hooks.record({ event: id, hook: "fires", fired: true, startedAtMs: 1, endedAtMs: 2 });
  await scene.crash();
  scene.start();
  const runs = await scene.judged(id);
  expect(runs.map(({ hook, fired }) => [hook, fired])).toEqual([
    ["fires", true],
    ["silent", false],
  ]);
  expect(readdirSync(counts.path)).toEqual(["silent"]);
});

test("a crash while hooks are at work loses no event", async () => {
  await using scene = await openScene({
    slow: `import { setTimeout } from "node:timers/promises";
      export default async () => { await setTimeout(20); return { fire: true, routing: { session: "work" } }; };`,
  });
  scene.start();
  const ids = await Promise.all(["a", "b", "c"].map((name) => scene.accept(name)));
  await scene.crash();
  scene.start();
  for (const id of ids) expect(await scene.judged(id)).toMatchObject([{ hook: "slow", fired: true }]);
  for (const id of ids) expect(await scene.store.events.dispatches(id)).toHaveLength(1);
});

test("a hook that fails again and again is paused, is tried once, and goes on when it is well", async () => {
  await using scene = await openScene({
    shaky: `export default ({ event }) => {
      if (event.content !== "well") throw new Error("ill");
      return { fire: false };
    };`,
  });
  scene.start();
  for (let i = 0; i < CIRCUIT_ERRORS; i++) await scene.judged(await scene.accept(`ill-${i}`));
  expect(await scene.store.hooks.get("shaky")).toMatchObject({
    state: "open",
    error: expect.stringContaining("ill"),
  });
  expect(scene.paused).toEqual(["shaky"]);
  expect(await scene.judged(await scene.accept("while-paused"))).toMatchObject([
    { hook: "shaky", fired: false, result: { skipped: expect.stringContaining("paused after repeated") } },
  ]);

  scene.clock.advance(CIRCUIT_REST_MS);
  expect(await scene.judged(await scene.accept("tried"))).toHaveLength(1);
  expect(await scene.judged(await scene.accept("paused-again"))).toMatchObject([{ fired: false }]);

  scene.clock.advance(CIRCUIT_REST_MS);
  await scene.judged(await scene.accept("well", { content: "well" }));
  expect(await scene.store.hooks.get("shaky")).toMatchObject({ state: "active", consecutiveErrors: 0 });
  expect(await scene.judged(await scene.accept("more", { content: "well" }))).toHaveLength(1);
});

test("a one-shot fires once, also when many events come at the same moment", async () => {
  await using scene = await openScene({ once: `/** @mode one-shot */\n${FIRES}` });
  const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => scene.accept(`e${i}`)));
  scene.start();
  for (const id of ids) await scene.judged(id);
  const dispatches = await Promise.all(ids.map((id) => scene.store.events.dispatches(id)));
  expect(dispatches.flat()).toHaveLength(1);
  expect(await scene.store.hooks.get("once")).toMatchObject({ state: "disabled", triggers: 1 });
});

test("a hook can take itself out of service without firing", async () => {
  await using scene = await openScene({
    done: `export default () => ({ fire: false, disable_hook: true });`,
  });
  scene.start();
  expect(await scene.judged(await scene.accept("a"))).toMatchObject([{ fired: false }]);
  expect(await scene.store.hooks.get("done")).toMatchObject({ state: "disabled" });
  expect(await scene.judged(await scene.accept("b"))).toEqual([]);
});

test("only hooks whose filter lets an event through are asked", async () => {
  await using scene = await openScene({
    mail: `export const filter = { channels: ["email"] }; ${SILENT}`,
    words: `export const filter = { match: /invoice/i }; ${SILENT}`,
    answers: `export const filter = { directions: ["sent"] }; ${SILENT}`,
  });
  scene.start();
  const asked = async (name: string, fields: Partial<NewEvent>): Promise<string[]> =>
    (await scene.judged(await scene.accept(name, fields))).map(({ hook }) => hook);
  expect(await asked("a", { channel: "email" })).toEqual(["mail"]);
  expect(await asked("b", { content: "An INVOICE" })).toEqual(["words"]);
  expect(await asked("c", { direction: "sent" })).toEqual(["answers"]);
  expect(await asked("d", {})).toEqual([]);
  expect([scene.catalogue.wants("sent"), scene.catalogue.wants("deleted")]).toEqual([true, false]);
});

test("a file that is changed is in use at once, and one that is broken breaks no other", async () => {
  await using scene = await openScene({ first: SILENT, second: SILENT });
  scene.start();
  await scene.judged(await scene.accept("a"));
  scene.write("first", FIRES);
  scene.write("second", "export default (");
  expect(await scene.catalogue.sync()).toBe(true);
  expect(await scene.judged(await scene.accept("b"))).toMatchObject([{ hook: "first", fired: true }]);
  expect(await scene.store.hooks.get("second")).toMatchObject({ state: "errored" });
  scene.write("second", SILENT);
  await scene.catalogue.sync();
  expect(await scene.judged(await scene.accept("c"))).toHaveLength(2);
  expect(await scene.catalogue.sync()).toBe(false);
});

test("hooks whose files have not changed are not loaded to be known again", async () => {
  await using scene = await openScene({ mail: `export const filter = { channels: ["email"] }; ${SILENT}` });
  await scene.crash();
  expect((await scene.catalogue.find("mail"))!.filter.channels).toEqual(["email"]);
  scene.start();
  expect(await scene.judged(await scene.accept("a", { channel: "email" }))).toHaveLength(1);
});

test("an event is judged even where there are no hooks any more", async () => {
  await using scene = await openScene({});
  scene.start();
  expect(await scene.judged(await scene.accept("a"))).toEqual([]);
});

test("a time that was missed and is not made up for is recorded with the reason, and changes nothing else of the hook", async () => {
  const daily = (catchUp: string) =>
    `export const filter = { channels: ["timer"], cron: "0 9 * * *", catchUp: "${catchUp}" }; export default async () => ({ fire: false });`;
  await using scene = await openScene({
    skips: daily("skip"),
    "makes-up": daily("once"),
    fails: daily("skip").replace("({ fire: false })", "{ throw new Error('no') }"),
  });
  const nine = Date.UTC(2030, 0, 2, 9);
  const minute = (atMs: number, missedFromMs?: number) =>
    scene.accept(`minute-${atMs}`, {
      channel: "timer",
      content: null,
      atMs,
      ...(missedFromMs !== undefined && {
        metadata: { missed: { fromMs: missedFromMs, toMs: atMs - MINUTE_MS } },
      }),
    });
  scene.start();
  await scene.judged(await minute(nine));
  const before = await scene.store.hooks.get("fails");
  expect(before).toMatchObject({ state: "active", error: expect.stringContaining("Error: no") });

  const later = await scene.judged(await minute(nine + 25 * HOUR_MS, nine + MINUTE_MS));
  const skipped = {
    fire: false,
    skipped: `missed its scheduled time 2030-01-03T09:00:00.000Z because Cortex was not running, and its catchUp is "skip"`,
  };
  expect(later).toMatchObject([
    { hook: "fails", fired: false, result: skipped, error: undefined },
    { hook: "makes-up", fired: false, result: { fire: false, disable: false } },
    { hook: "skips", fired: false, result: skipped },
  ]);
  expect(await scene.store.hooks.get("fails")).toEqual({ ...before, lastRunAtMs: expect.any(Number) });
  expect((await scene.store.hooks.health("fails")).consecutiveErrors).toBe(1);

  // At nine of another day it is asked, and still says what it has missed since.
  const nineAgain = await scene.judged(await minute(nine + 72 * HOUR_MS, nine + 26 * HOUR_MS));
  expect(nineAgain.map(({ hook, result }) => [hook, result])).toContainEqual([
    "skips",
    { fire: false, disable: false, skipped: expect.stringContaining("2030-01-04T09:00") },
  ]);
});
