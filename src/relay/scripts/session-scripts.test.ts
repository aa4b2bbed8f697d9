/** The scripts of sessions through all of Cortex: real commands, and a model that plays what the test says. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openTestCortex, writeHome } from "../../../test/support/home.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { answerTo, entry, plays, settled } from "../../../test/support/workers.ts";
import { SCRIPT_ADAPTER } from "../../model/event.ts";
import { eventId } from "../../model/event-id.ts";
import type { Identity } from "../../model/principal.ts";
import { MAIN_SESSION } from "../../model/session-key.ts";
import type { StoredEvent } from "../../store/store.ts";
import type { Cortex, CortexOptions } from "../../runtime/cortex.ts";
import type { Ports } from "../../feature/ports.ts";
import { createUlidSource } from "../../model/ulid.ts";
import { openBounds } from "../../turns/bounds.ts";
import { openTestStore } from "../../../test/support/open-store.ts";
import { dispatch, event, session, toSession } from "../../../test/support/sample.ts";
import { MAX_LATE_MS, MAX_SESSION_SCRIPTS, SessionScriptRunner } from "./session-scripts.ts";

const PATIENT = { timeout: 90_000 };
const SCRIPT = [entry("note", undefined, plays([], "noted")), entry(".*", undefined, plays([], "answered"))];

interface Home extends Disposable {
  readonly path: string;
  readonly logged: string[];
  open(options?: Partial<CortexOptions>): Promise<Cortex>;
  write(scripts: object | string): void;
  /** What the script has written to a file, by line. */
  seen(): string[];
}

function makeHome(scripts?: object | string): Home {
  const folder = temporaryFolder();
  writeHome(folder.path, { script: SCRIPT.join("") });
  const logged: string[] = [];
  const file = join(folder.path, "seen.txt");
  const home: Home = {
    path: folder.path,
    logged,
    open: (options = {}) =>
      openTestCortex({}, { log: (line) => logged.push(line), ...options, home: folder.path }),
    write(given) {
      const text = typeof given === "string" ? given : JSON.stringify(given);
      writeFileSync(join(folder.path, "config/session-hooks.json"), text);
    },
    seen: () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
  if (scripts !== undefined) home.write(scripts);
  return home;
}

async function say(cortex: Cortex, content: string, more: object = {}): Promise<string> {
  const said = await cortex.say({ content, session: MAIN_SESSION, ...more });
  return said.kind === "message" ? answerTo(cortex, said.sent.item) : said.reply;
}

/** The script events in the ledger, oldest first. */
async function recorded({ store }: Cortex): Promise<StoredEvent[]> {
  const { items } = await store.events.list({ channel: SCRIPT_ADAPTER, limit: 100 });
  return items.toReversed();
}

async function ended(cortex: Cortex, count: number): Promise<StoredEvent[]> {
  const ends = async () => (await recorded(cortex)).filter(({ id }) => id.endsWith(":end"));
  await expect.poll(async () => (await ends()).length, PATIENT).toBe(count);
  await settled(cortex);
  return ends();
}

/** A turn that nobody looks at, as when the process ends right after its commit. */
async function meanwhile(home: Home): Promise<void> {
  rmSync(join(home.path, "config/session-hooks.json"));
  await using cortex = await home.open();
  await say(cortex, "hello");
  await settled(cortex);
}

async function texts({ store }: Cortex): Promise<string[]> {
  const head = await store.sessions.head(MAIN_SESSION);
  const thread = await store.turns.thread(head!, { limit: 20 });
  const contents = await Promise.all(thread.toReversed().map(({ id }) => store.turns.read(id)));
  return contents.map((content) => content!.messages.at(-1)!.content);
}

const KEEP = { command: "cat >> seen.txt; echo >> seen.txt" };

test("after a turn that answers a person the script is told of it, and what it writes is a turn", async () => {
  using home = makeHome({
    onMessageEnd: { command: "cat >> seen.txt; echo >> seen.txt; echo '  note this  '" },
  });
  await using cortex = await home.open();
  await say(cortex, "hello");
  const [end] = await ended(cortex, 1);
  expect(end).toMatchObject({ content: "note this", direction: "sent", channel: "script" });
  expect(await texts(cortex)).toEqual(["answered", "noted"]);
  const [first] = await cortex.store.turns.thread((await cortex.store.sessions.head(MAIN_SESSION))!, {
    limit: 1,
  });
  expect(JSON.parse(home.seen()[0]!)).toEqual({
    channel: "http",
    sessionId: MAIN_SESSION,
    sessionName: MAIN_SESSION,
    executionId: first!.parent,
    profile: "scripted",
    trigger: "messageEnd",
    timestampIso: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

test("a turn that came of a script runs none", async () => {
  using home = makeHome({ onMessageEnd: { command: "echo note" } });
  await using cortex = await home.open();
  await say(cortex, "hello");
  await ended(cortex, 1);
  await say(cortex, "hello again");
  await ended(cortex, 2);
  expect(await texts(cortex)).toEqual(["answered", "noted", "answered", "noted"]);
});

test("the environment says where it happened", async () => {
  const names = ["CHANNEL", "SESSION_ID", "SESSION_NAME", "TRIGGER"].map((name) => `$CORTEX_HOOK_${name}`);
  using home = makeHome({
    onMessageEnd: { command: `f() { echo "${names.join(" ")} $1" > seen.txt; }; f`, args: ["an argument"] },
  });
  await using cortex = await home.open();
  await say(cortex, "hello");
  await ended(cortex, 1);
  expect(home.seen()).toEqual([`http ${MAIN_SESSION} ${MAIN_SESSION} messageEnd an argument`]);
});

test("the answer to a script goes where the answer to the person went, with no more permissions", async () => {
  using home = makeHome({ onMessageEnd: { command: "echo note" } });
  const paired = { channel: "email", sender: "ada", permissions: { tools: { deny: ["Bash"] } } };
  writeHome(home.path, {
    script: SCRIPT.join(""),
    cortex: { channels: { paired: [paired] } },
    hooks: { "mail.ts": "export default () => ({ fire: true });" },
  });
  await using cortex = await home.open();
  await expect.poll(() => cortex.store.hooks.list(), PATIENT).toHaveLength(1);
  const link = ["email@work:ada" as Identity];
  await cortex.store.people.change("email-ada", { link }, { principal: "owner" });
  const place = { channel: "email", place: "ada", account: "work", topic: "7" };
  await cortex.accept({
    ...place,
    adapter: "email",
    sender: "ada",
    content: "hello",
    timestampMs: Date.now(),
  });
  const [end] = await ended(cortex, 1);
  const [dispatch] = await cortex.store.events.dispatches(end!.id);
  const item = await cortex.store.queue.item(dispatch!.item);
  expect(item!.dispatches).toMatchObject([
    { hook: "script", permissions: { tools: { deny: ["Bash"] }, authority: "paired" }, delivery: place },
  ]);
});

test("on /new the script speaks to the thread that was closed", async () => {
  using home = makeHome({ onNew: { command: `${KEEP.command}; echo note` } });
  await using cortex = await home.open();
  await say(cortex, "hello");
  const closed = (await cortex.store.sessions.head(MAIN_SESSION))!;
  await say(cortex, "/new");
  const [end] = await ended(cortex, 1);
  expect(JSON.parse(home.seen()[0]!)).toMatchObject({ trigger: "new", executionId: closed, channel: "http" });
  expect(await cortex.store.sessions.head(MAIN_SESSION)).toBeUndefined();
  const [dispatch] = await cortex.store.events.dispatches(end!.id);
  const [turn] = await cortex.store.turns.children(closed);
  expect(turn).toMatchObject({ session: dispatch!.session, parent: closed });
});

test("a script that writes nothing is no turn, and its end is recorded", async () => {
  using home = makeHome({ onMessageEnd: { command: "echo '  '" } });
  await using cortex = await home.open();
  await say(cortex, "hello");
  const [end] = await ended(cortex, 1);
  expect(end).toMatchObject({ content: null, metadata: { moment: "onMessageEnd", session: MAIN_SESSION } });
  expect(await texts(cortex)).toEqual(["answered"]);
});

test.each([
  ["fails", { command: "echo bad >&2; exit 3; echo" }, "Exit code 3 bad"],
  ["hangs", { command: "sleep 600;", timeout: 100 }, "Timed out after 100 ms"],
])("a script that %s is one line in the log and in the ledger", async (_, onMessageEnd, error) => {
  using home = makeHome({ onMessageEnd });
  await using cortex = await home.open();
  await say(cortex, "hello");
  const [end] = await ended(cortex, 1);
  const line = `Script onMessageEnd of ${MAIN_SESSION} failed: ${error}`;
  expect(end).toMatchObject({ content: line, metadata: { failed: true } });
  expect(home.logged).toContain(line);
  expect(await texts(cortex)).toEqual(["answered"]);
});

test("a turn that ended while nobody looked gets its script at the next start, once", async () => {
  using home = makeHome({ onMessageEnd: KEEP });
  {
    await using cortex = await home.open();
    await say(cortex, "hello");
    await ended(cortex, 1);
  }
  await meanwhile(home);
  home.write({ onMessageEnd: KEEP });
  for (const _ of [1, 2]) {
    await using cortex = await home.open();
    await ended(cortex, 2);
  }
  expect(home.seen()).toHaveLength(2);
});

test("a script that was cut off by a crash is not run again, and that is told", async () => {
  using home = makeHome({ onMessageEnd: KEEP });
  {
    await using cortex = await home.open();
    const seq = await cortex.store.changes.last();
    const told = { moment: "onMessageEnd", session: MAIN_SESSION, turn: "turn", command: "x" };
    // Earlier versions recorded with such a mark how far they had come.
    for (const { kind, metadata } of [
      { kind: "turn", metadata: told },
      { kind: "watch", metadata: {} },
    ]) {
      const sourceId = `${String(seq).padStart(16, "0")}:${kind}`;
      await cortex.store.events.accept({
        id: eventId(SCRIPT_ADAPTER, { kind: "id", sourceId }),
        channel: SCRIPT_ADAPTER,
        direction: "sent",
        content: null,
        metadata,
        atMs: Date.now(),
      });
    }
  }
  await using cortex = await home.open();
  const [end] = await ended(cortex, 1);
  expect(end!.id).toMatch(/:turn:end$/);
  expect(end!.content).toMatch(/failed: Cortex stopped while it was running$/);
  expect(home.seen()).toEqual([]);
});

test("what happened too long ago is passed over, and that is said", async () => {
  using home = makeHome({ onMessageEnd: KEEP });
  await (await home.open()).stop();
  await meanwhile(home);
  home.write({ onMessageEnd: KEEP });
  await using cortex = await home.open({ clock: () => Date.now() + 2 * MAX_LATE_MS });
  await expect
    .poll(() => home.logged, PATIENT)
    .toContain("Session scripts were skipped for 1 turn that ended too long ago.");
  expect(await recorded(cortex)).toEqual([]);
});

test("only so many run at the same time, and the others wait", async () => {
  using home = makeHome({ onMessageEnd: { command: "while [ ! -e go ]; do sleep 0.05; done; true" } });
  await using cortex = await home.open();
  const sessions = Array.from({ length: MAX_SESSION_SCRIPTS + 1 }, (_, n) => `s${n}`);
  await Promise.all(sessions.map((session) => say(cortex, "hello", { session })));
  await expect.poll(async () => (await recorded(cortex)).length, PATIENT).toBe(MAX_SESSION_SCRIPTS);
  await settled(cortex);
  expect(await recorded(cortex)).toHaveLength(MAX_SESSION_SCRIPTS);
  writeFileSync(join(home.path, "go"), "");
  await ended(cortex, MAX_SESSION_SCRIPTS + 1);
});

test("a file that is made while Cortex runs counts from then on", async () => {
  using home = makeHome();
  await using cortex = await home.open();
  await say(cortex, "before");
  home.write({ onMessageEnd: KEEP });
  await expect
    .poll(async () => (await cortex.store.cursors.get("job:session-scripts")) !== undefined, PATIENT)
    .toBe(true);
  await say(cortex, "after");
  await ended(cortex, 1);
  expect(home.seen()).toHaveLength(1);
});

test("a file that is wrong is said to be, and the turn is none the worse", async () => {
  using home = makeHome({ onMessageEnd: { comand: "x" } });
  await using cortex = await home.open();
  expect(await say(cortex, "hello")).toBe("answered");
  await expect.poll(() => home.logged.join("\n"), PATIENT).toContain("session-hooks.json");
  expect(await recorded(cortex)).toEqual([]);
});

test.each(["last", "since"] as const)(
  "where changes.%s fails, it is retried, and the script runs once",
  PATIENT,
  async (broken) => {
    using home = makeHome({ onNew: { command: "echo ran >> seen.txt; true" } });
    await using kept = await openTestStore();
    let isBroken = true;
    const refused = async () => Promise.reject(new Error("The disk is gone"));
    const changes = new Proxy(kept.store.changes, {
      get: (real, name) => (name === broken && isBroken ? refused : (Reflect.get(real, name) as unknown)),
    });
    const store = new Proxy(kept.store, {
      get(real, name) {
        const value: unknown = name === "changes" ? changes : Reflect.get(real, name);
        return typeof value === "function" ? (value.bind(real) as unknown) : value;
      },
    });
    const log = (line: string) => home.logged.push(line);
    const bounds = openBounds({ home: home.path, config: () => assert.fail("no quota"), log });
    const ports = {
      home: home.path,
      store,
      clock: kept.clock,
      mintId: createUlidSource(kept.clock),
      environment: { PATH: process.env["PATH"] },
      settings: { variable: () => undefined },
      slots: { withSlot: async () => assert.fail("the script says nothing") },
      watchProgram: () => bounds.watch(),
      log,
    } as unknown as Ports;
    await using runner = new SessionScriptRunner(ports, { isNew: true });
    await runner.start();
    const target = toSession("main");
    await kept.store.events.accept(event("1"), { dispatch: dispatch("1", target) });
    const reset = () => kept.store.sessions.reset(session("main"));
    if (broken === "since") await reset();
    await expect.poll(() => home.logged, PATIENT).toEqual([expect.stringContaining("The disk is gone")]);
    isBroken = false;
    // From now on changes are followed.
    const position = () => (broken === "last" ? kept.store.cursors.get("job:session-scripts") : true);
    await expect.poll(position, PATIENT).toBeDefined();
    if (broken === "last") await reset();
    await expect.poll(() => home.seen(), PATIENT).toEqual(["ran"]);
    const ends = async () =>
      (await kept.store.events.list({ channel: SCRIPT_ADAPTER, limit: 10 })).items.filter(({ id }) =>
        id.endsWith(":end"),
      );
    await expect.poll(ends, PATIENT).toHaveLength(1);
    expect(home.seen()).toEqual(["ran"]);
  },
);
