/**
 * What becomes of the run, the queue and the answers when a message of each mode meets a session in each state.
 * The model is a server on loopback that stops where the test says; the clock stands still until the test moves it.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { DONE, openTestCortex, testTool, writeHome } from "../../test/support/home.ts";
import {
  type ModelRequest,
  type ModelServer,
  type Reply,
  startModelServer,
} from "../../test/support/model-server.ts";
import { testClock } from "../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import type { ItemId, RunId } from "../model/ids.ts";
import { QUEUE_MODES, type QueueMode } from "../model/queue-mode.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import type { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Cortex } from "./cortex.ts";

const STATES = ["idle", "streaming", "tool", "suspended", "crashed", "compacting"] as const;
type State = (typeof STATES)[number];

/**
 * The turns that there are in the end: the messages of each, and ! where it was aborted. In every state but
 * idle, `work` runs and `old`, a follow-up, waits; then `next` comes, and for collect `more`.
 */
const THREADS: Readonly<Record<State, Readonly<Record<QueueMode, string>>>> = {
  idle: {
    steer: "next",
    "steer-backlog": "next",
    followup: "next",
    queue: "next",
    collect: "next+more",
    interrupt: "next",
  },
  // The model is not asked again in this turn, so there is nothing to steer: it goes into the next one.
  streaming: {
    steer: "work, old+next",
    "steer-backlog": "work, old+next",
    followup: "work, old, next",
    queue: "work, old, next",
    collect: "work, old, next+more",
    interrupt: "work!, old+next",
  },
  tool: {
    steer: "work+next, old",
    "steer-backlog": "work+next, old",
    followup: "work, old, next",
    queue: "work, old, next",
    collect: "work, old, next+more",
    interrupt: "work!, old+next",
  },
  suspended: {
    steer: "work+next, old",
    "steer-backlog": "work+next, old",
    followup: "work, old, next",
    queue: "work, old, next",
    collect: "work, old, next+more",
    interrupt: "work!, old+next",
  },
  crashed: {
    steer: "work+next, old",
    "steer-backlog": "work+next, old",
    followup: "work, old, next",
    queue: "work, old, next",
    collect: "work, old, next+more",
    interrupt: "work!, old+next",
  },
  compacting: {
    steer: "work+next, old",
    "steer-backlog": "work+next, old",
    followup: "work, old, next",
    queue: "work, old, next",
    collect: "work, old, next+more",
    interrupt: "work!, old+next",
  },
};

const DEBOUNCE_MS = 50;
const LARGE_WINDOW = 100_000;
const SMALL_WINDOW = 3_000;
const PATIENT = { timeout: 90_000 };
const NEVER = new AbortController().signal;

let server: ModelServer;
/** What the model does; each test has its own. */
let play: (request: ModelRequest) => Reply = () => ({});
beforeAll(async () => {
  server = await startModelServer({
    answer: (request) => ({
      usage: { input: Math.ceil(JSON.stringify(request.body).length / 4) },
      ...play(request),
    }),
  });
});
afterAll(() => server[Symbol.asyncDispose]());

/** The newest words of the user, without the line that says when and where they were said. */
function lastWords({ messages }: ModelRequest): string {
  return messages
    .findLast(({ role }) => role === "user")!
    .text.split("\n")
    .at(-1)!;
}

function isSummary({ messages }: ModelRequest): boolean {
  return messages[0]!.text.startsWith("You summarize a conversation");
}

function homeFiles(contextWindow: number) {
  const own = { provider: "openai-compatible", baseUrl: server.openaiUrl, model: "m", contextWindow };
  return {
    cortex: {
      broker: { retryMs: 0, shutdownMs: 0, queue: { debounceMs: DEBOUNCE_MS } },
      agents: { main: { tools: ["Hold", "Question"], systemPrompt: "Be brief." } },
    },
    profiles: { defaultProfile: "own", profiles: { own } },
  };
}

/** A Cortex whose session `main` is in a state, and a way to let it go on from there. */
async function bringInto(state: State) {
  const folder = temporaryFolder(memoryParent());
  const home = folder.path;
  const clock = testClock();
  const held = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const hold = testTool("Hold", (_, { signal }) => {
    held.resolve();
    signal.addEventListener("abort", () => gate.resolve());
    return gate.promise.then(() => DONE);
  });
  const question = testTool("Question", async () => ({
    kind: "suspend",
    waitKind: "question",
    detail: null,
  }));
  writeHome(home, homeFiles(LARGE_WINDOW));
  const open = (): Promise<Cortex> => openTestCortex({}, { home, clock, tools: [hold, question] });
  let cortex = await open();

  const FIRST: Partial<Record<State, Reply>> = {
    streaming: { text: "re work", gate: gate.promise, gateAt: "middle" },
    tool: { calls: [{ name: "Hold", arguments: {} }] },
    crashed: { calls: [{ name: "Hold", arguments: {} }] },
    suspended: { calls: [{ name: "Question", arguments: {} }] },
  };
  let isFirst = true;
  play = (request) => {
    if (isSummary(request)) {
      if (!isFirst) return { text: "All was well." };
      isFirst = false;
      held.resolve();
      return { text: "All was well.", gate: gate.promise };
    }
    const words = lastWords(request);
    if (words !== "work" || !isFirst) return { text: `re ${words}` };
    isFirst = false;
    if (state === "streaming") held.resolve();
    return FIRST[state] ?? { text: "re work" };
  };

  if (state === "compacting") {
    for (const name of ["a", "b", "c"]) {
      await answered(cortex, await cortex.send({ content: `${"word ".repeat(1_000)}\n${name}` }));
    }
    await cortex.stop();
    writeHome(home, homeFiles(SMALL_WINDOW)); // which this thread does not fit in
    cortex = await open();
  }
  const before = (await cortex.store.counts()).turns;
  const work = state === "idle" ? undefined : await cortex.send({ content: "work" });
  if (state === "suspended") await suspended(cortex);
  else if (state !== "idle") await held.promise;

  return {
    clock,
    before,
    work: work?.item,
    get cortex() {
      return cortex;
    },
    /** Lets what holds the run up end. */
    async goOn(isInterrupted: boolean): Promise<void> {
      if (state === "crashed") {
        const crashed = cortex;
        await (crashed.store as SqliteStore).crash();
        cortex = await open();
        gate.resolve();
        await crashed.stop().catch(() => {}); // its store is gone
      } else if (state === "suspended" && !isInterrupted) {
        const [run] = await cortex.store.runs.active();
        await cortex.answer(run!.id, { text: "Yes." });
      } else if (!isInterrupted) gate.resolve();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      gate.resolve();
      await cortex.stop();
      folder[Symbol.dispose]();
    },
  };
}

async function suspended(cortex: Cortex): Promise<void> {
  await expect
    .poll(async () => (await cortex.store.sessions.get(MAIN_SESSION))?.state, PATIENT)
    .toBe("suspended");
}

async function answered(cortex: Cortex, { item }: { readonly item: ItemId }) {
  const outcome = (await cortex.outcome(item, NEVER))!;
  if (outcome.kind !== "turn") throw new Error(`It ended as ${JSON.stringify(outcome)}`);
  return (await cortex.store.turns.read(outcome.turn))!;
}

async function isToEnd(cortex: Cortex, run: RunId | undefined): Promise<boolean> {
  return run !== undefined && (await cortex.store.runs.get(run))!.abort !== undefined;
}

/** All turns of the session, oldest first, without those that were made before the test began. */
async function threadOf(cortex: Cortex, before: number): Promise<string> {
  const head = (await cortex.store.sessions.head(MAIN_SESSION))!;
  const all = await cortex.store.turns.thread(head, { limit: 100 });
  const normal = all
    .filter(({ type }) => type === "normal")
    .toReversed()
    .slice(before);
  const shown = await Promise.all(
    normal.map(async ({ id, status }) => {
      const { messages } = (await cortex.store.turns.read(id))!;
      const said = messages.filter(({ role }) => role === "user").map(({ content }) => content);
      return `${said.join("+")}${status === "aborted" ? "!" : ""}`;
    }),
  );
  return shown.join(", ");
}

const CELLS = STATES.flatMap((state) => QUEUE_MODES.map((mode) => [state, mode] as const));

describe("a message", () => {
  test.each(CELLS)("that meets a session that is %s with mode %s", PATIENT, async (state, mode) => {
    await using scene = await bringInto(state);
    const names = mode === "collect" ? ["next", "more"] : ["next"];
    const items = new Map<string, ItemId>();
    if (scene.work !== undefined) {
      items.set("work", scene.work);
      items.set("old", (await scene.cortex.send({ content: "old", mode: "followup" })).item);
    }
    const [run] = await scene.cortex.store.runs.active();
    for (const name of names) items.set(name, (await scene.cortex.send({ content: name, mode })).item);
    const interrupts = mode === "interrupt" && run !== undefined;
    expect(await isToEnd(scene.cortex, run?.id)).toBe(interrupts);
    const isTakenAtOnce = interrupts || (run === undefined && mode !== "collect");
    const waiting = await scene.cortex.store.queue.pending(MAIN_SESSION);
    expect(isTakenAtOnce ? [] : waiting.map(({ event }) => event.content)).toEqual(
      isTakenAtOnce ? [] : [...(run === undefined ? [] : ["old"]), ...names],
    );

    await scene.goOn(mode === "interrupt");
    scene.clock.advance(DEBOUNCE_MS);
    for (const [name, item] of items) {
      const { messages, turn } = await answered(scene.cortex, { item });
      expect(messages.map(({ content }) => content)).toContain(name);
      const last = messages.findLast(({ role }) => role === "user")!.content;
      const isAnswered = messages.at(-1)!.content === `re ${last}`;
      expect(isAnswered || turn.status === "aborted").toBe(true);
    }
    expect(await threadOf(scene.cortex, scene.before)).toBe(THREADS[state][mode]);
    expect(await scene.cortex.store.counts()).toMatchObject({ queued: 0, dead: 0, running: 0, suspended: 0 });
  });
});
