import { expect, test, vi } from "vitest";
import { calls, says, spoken } from "../../test/support/scripted-model.ts";
import { loadFiles } from "../../test/support/config-home.ts";
import { message, START_MS } from "../../test/support/sample.ts";
import { EVERYTHING } from "../../test/support/tool-context.ts";
import { dayStart } from "../model/day.ts";
import type { PersonLimits } from "../model/person.ts";
import { OWNER_PRINCIPAL, personPrincipal, type Principal } from "../model/principal.ts";
import type { Profile } from "../model/profile.ts";
import type { AssistantBody, Message, ToolCall } from "../model/message.ts";
import {
  dayLimitReached,
  limitReached,
  limitsReached,
  nextStretch,
  type TurnLimits,
  usageReached,
  type Watched,
  type WatchOptions,
  watchSilence,
  workedMs,
} from "./limits.ts";
import type { PersonaId } from "../model/ids.ts";

const WIDE: TurnLimits = { modelCalls: 100, costUsd: 100, wallClockMs: 1e9, repeatedCalls: 100 };

function reached(
  limits: Partial<TurnLimits>,
  bodies: readonly AssistantBody[],
  workedMs = 0,
): string | undefined {
  const answers = bodies.map((body, i) => spoken(`m${i}`, body));
  const messages = [message("q", "user", "go"), ...answers];
  return limitReached({ ...WIDE, ...limits }, { messages, workedMs });
}

test("a turn goes on below every limit", () => {
  expect(reached({}, [])).toBeUndefined();
  expect(reached({}, [calls("A"), calls("A"), says("x")], 1_000)).toBeUndefined();
});

test.each<[keyof TurnLimits, number, readonly AssistantBody[], number, RegExp]>([
  ["modelCalls", 2, [calls("A"), calls("B")], 0, /made 2 model calls/],
  ["costUsd", 1, [calls("A"), calls("B")], 0, /cost 1\.0000 USD/],
  ["wallClockMs", 5_000, [], 5_000, /took 5 s/],
  ["repeatedCalls", 2, [calls("A"), calls("A")], 0, /repeated the same call 2 times/],
])("%s ends the turn with an answer that names the limit", (limit, value, bodies, workedMs, text) => {
  const answer = reached({ [limit]: value }, bodies, workedMs);
  expect(answer).toMatch(text);
  expect(answer).toContain(`\`${limit}\`: ${value}`);
  expect(reached({ [limit]: value }, bodies.slice(1), workedMs - 1)).toBeUndefined();
});

test("repeated is only what is the same to the letter and in a row", () => {
  const limit = { repeatedCalls: 2 };
  expect(reached(limit, [calls("A"), calls("B"), calls("A")])).toBeUndefined();
  expect(reached(limit, [calls(["A", { x: 1 }]), calls(["A", { x: 2 }])])).toBeUndefined();
  expect(reached(limit, [calls(["A", { x: 1, y: 2 }]), calls(["A", { y: 2, x: 1 }])])).toBeDefined();
  expect(reached(limit, [calls("A", "A")])).toBeDefined();
});

test("a model whose price is not known, or is nothing, does not reach the limit on cost", () => {
  expect(reached({ costUsd: 0 }, [says("x", { costUsd: null }), says("x", { costUsd: 0 })])).toBeUndefined();
});

const ATLAS = "atlas" as PersonaId;

const { config } = await loadFiles({});
/** What was spent today, by whom. */
interface Spent {
  readonly principal?: Principal;
  readonly backend?: Profile["backend"];
  /** Of all, what others than the owner spent, and of that, the principal. */
  readonly others?: number;
  readonly own?: number;
  readonly limits?: PersonLimits;
}

const spendingOf = (
  limit: number,
  spent: number,
  { principal = OWNER_PRINCIPAL, backend = "pi", others = 0, own = 0, limits = {} }: Spent = {},
) =>
  dayLimitReached(
    {
      persona: ATLAS,
      principal,
      permissions: () => ({ ...EVERYTHING, spendUsdPerDay: limit }),
      profile: { backend },
    },
    {
      settings: { config: () => config },
      clock: () => START_MS,
      store: {
        turns: {
          spentUsd: async (persona, sinceMs, options) =>
            persona === ATLAS && sinceMs === dayStart(START_MS, config.timezone)
              ? options?.others === true
                ? others
                : spent
              : Infinity,
          spentByUsd: async (who) => (who === principal ? own : Infinity),
          usedSince: async () => [],
        },
        people: {
          get: async (id) => ({
            id,
            name: "Ada",
            role: "member",
            identities: [],
            permissions: undefined,
            limits,
            createdAtMs: 0,
          }),
        },
      },
    },
  );

const ada = personPrincipal("ada");

test("a person who has spent their budget stops, and the owner goes on", async () => {
  const { usdPerDay } = config.people.limits;
  const spent = { others: usdPerDay, own: usdPerDay };
  expect(
    await spendingOf(20, usdPerDay, { principal: ada, ...spent, own: usdPerDay - 0.01 }),
  ).toBeUndefined();
  expect(await spendingOf(20, usdPerDay, { principal: ada, ...spent })).toMatch(
    /budget for today is used up/,
  );
  expect(await spendingOf(20, usdPerDay, spent)).toBeUndefined();
});

test("a person's own limit comes first", async () => {
  const spent = { principal: ada, others: 3, own: 3 };
  expect(await spendingOf(20, 3, { ...spent, limits: { usdPerDay: 5 } })).toBeUndefined();
  expect(await spendingOf(20, 3, { ...spent, limits: { usdPerDay: 1 } })).toMatch(/usdPerDay`: 1,/);
});

test("others use no more than their share together, and the owner always has the rest", async () => {
  const spent = { others: 10, own: 0 };
  expect(await spendingOf(20, 10, { principal: ada, ...spent })).toMatch(/`people\.share`: 0\.5 of/);
  expect(await spendingOf(20, 10, { principal: "source:webhook:pay" as Principal, ...spent })).toMatch(
    /share/,
  );
  expect(
    await spendingOf(20, 10, { principal: "source:timer:daily" as Principal, ...spent }),
  ).toBeUndefined();
  expect(await spendingOf(20, 19.99, spent)).toBeUndefined();
  expect(await spendingOf(20, 20, spent)).toMatch(/spendUsdPerDay`: 20/);
});

test("a persona that has spent less than it may goes on", async () => {
  expect(await spendingOf(1, 0.99)).toBeUndefined();
});

test("one that has spent it says so, with the limit", async () => {
  expect(await spendingOf(1, 1)).toMatch(/atlas has spent 1\.00 USD today\. \(Limit `spendUsdPerDay`: 1,/);
});

test("one that may spend nothing asks no model, but the offline one is free", async () => {
  expect(await spendingOf(0, 0)).toMatch(/spent 0\.00/);
  expect(await spendingOf(0, 0, { backend: "offline" })).toBeUndefined();
});

const LIMITS = { callsPerDay: 5, tokensPerDay: 100, personaCallsPerDay: 3, personaTokensPerDay: 50 };
const use = (calls: number, tokens: number, persona: PersonaId = ATLAS) => ({ persona, calls, tokens });
const byHooks = (calls: number, tokens: number) => ({ persona: undefined, calls, tokens });

test.each([
  ["nothing yet", [], undefined],
  ["less than it may", [use(2, 49)], undefined],
  ["its calls", [use(3, 0)], /^atlas has made 3 model calls today\. \(Limit `usage\.personaCallsPerDay`: 3/],
  ["its tokens", [use(1, 50)], /^atlas has used 50 tokens today\. \(Limit `usage\.personaTokensPerDay`: 50/],
  [
    "all calls, with hooks",
    [use(1, 0), byHooks(4, 0)],
    /^all .* have made 5 model calls.*usage\.callsPerDay/,
  ],
  ["all tokens", [use(1, 0), use(1, 100, "other" as PersonaId)], /used 100 tokens.*usage\.tokensPerDay/],
])("models are asked within the limits of a day: %s", (_, used, words) => {
  const reachedNow = usageReached(used, LIMITS, ATLAS) ?? "";
  expect(reachedNow).toMatch(words ?? /^$/);
});

test("all limits that are used up are named, and those of 0 are not", () => {
  const used = [use(3, 50), use(2, 50, "other" as PersonaId), byHooks(9, 9)];
  expect(limitsReached(used, LIMITS).map(({ what, setting }) => [what, setting])).toEqual([
    ["atlas has made 3 model calls today", "personaCallsPerDay"],
    ["other has used 50 tokens today", "personaTokensPerDay"],
    ["all agents and hooks together have made 14 model calls today", "callsPerDay"],
  ]);
  const nothing = { callsPerDay: 0, tokensPerDay: 0, personaCallsPerDay: 0, personaTokensPerDay: 0 };
  expect(limitsReached([use(1, 1)], nothing)).toEqual([]);
  expect(usageReached([], nothing, ATLAS)).toContain("atlas has made 0 model calls today");
});

const WORKED = { beforeMs: 100, sinceMs: 1_000 };

function said(role: Message["role"], atMs: number): Message {
  return { ...message("m", role, ""), atMs };
}

function call(startedAtMs: number, completedAtMs?: number): ToolCall {
  const begun = { ordinal: 0, callId: "c0", tool: "A", params: {}, startedAtMs };
  return completedAtMs === undefined
    ? { ...begun, status: "started" }
    : { ...begun, status: "ok", result: {}, completedAtMs };
}

test.each<[string, readonly Message[], readonly ToolCall[], number]>([
  ["an answer", [said("assistant", 1_030)], [], 30],
  ["a call that began", [], [call(1_040)], 40],
  ["a result", [said("assistant", 1_030)], [call(1_040, 1_050)], 50],
  ["nothing", [], [], 0],
  ["nothing since it was taken up", [said("assistant", 900)], [], 0],
  ["nothing but what a user said", [said("user", 1_060)], [], 0],
])("a stretch that was cut off after it wrote down %s", (_, messages, toolCalls, ms) => {
  const next = nextStretch({ messages, toolCalls }, { worked: WORKED }, 5_000);
  expect(next).toEqual({ beforeMs: 100 + ms, sinceMs: 5_000 });
});

test("the time in which a call waited for its answer is not work", () => {
  const before = { messages: [], toolCalls: [call(1_040, 4_000)] };
  const next = nextStretch(before, { worked: WORKED, waiting: [{ ordinal: 0 }] }, 5_000);
  expect(next.beforeMs).toBe(140);
});

test("a turn that nobody has worked on yet begins with nothing", () => {
  const worked = nextStretch({ messages: [], toolCalls: [] }, undefined, 5_000);
  expect(workedMs(worked, 5_000)).toBe(0);
  expect(workedMs(worked, 5_010)).toBe(10);
});

test("a clock that is put back takes nothing away", () => {
  expect(workedMs(WORKED, 0)).toBe(100);
});

const never = new Promise<string>(() => {});

/** Works under a clock that the test moves. */
function watch(work: (watched: Watched) => Promise<string>, options: Partial<WatchOptions> = {}) {
  vi.useFakeTimers();
  const signal = new AbortController().signal;
  const watching = watchSilence(work, { signal, silenceMs: 1_000, graceMs: 100, ...options });
  const settled = watching.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return { settled, [Symbol.dispose]: () => void vi.useRealTimers() };
}

const SILENT = {
  error: { code: "model_failed", transient: true, message: expect.stringContaining("for 1 s") },
};

test("what ends is given back", async () => {
  using watched = watch(async () => "done");
  expect(await watched.settled).toEqual({ value: "done" });
  expect(vi.getTimerCount()).toBe(0);
});

test("what makes no progress is told to end, and has failed for now", async () => {
  using watched = watch(
    ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("partial"))),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await watched.settled).toMatchObject(SILENT);
});

test("what fails because it was told to end has fallen silent all the same", async () => {
  using watched = watch(
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("x")))),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await watched.settled).toMatchObject(SILENT);
});

test("what does not even end when it is told to is left behind", async () => {
  using watched = watch(() => never);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(await watched.settled).toMatchObject(SILENT);
});

test("what makes progress may take as long as it likes", async () => {
  using watched = watch(async ({ touch, signal }) => {
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setTimeout(resolve, 900));
      touch();
    }
    return String(signal.aborted);
  });
  await vi.advanceTimersByTimeAsync(9_000);
  expect(await watched.settled).toEqual({ value: "false" });
});

test("a tool may be silent; what comes after it may not", async () => {
  using watched = watch(async ({ pause }) => {
    await pause(() => new Promise((resolve) => setTimeout(resolve, 60_000)));
    return never;
  });
  let ended = false;
  void watched.settled.then(() => (ended = true));
  await vi.advanceTimersByTimeAsync(60_900);
  expect(ended).toBe(false);
  await vi.advanceTimersByTimeAsync(300);
  expect(await watched.settled).toMatchObject(SILENT);
});

test("what does not end when its run is aborted is left behind, and has not failed", async () => {
  const controller = new AbortController();
  using watched = watch(() => never, { signal: controller.signal });
  controller.abort();
  await vi.advanceTimersByTimeAsync(100);
  expect(await watched.settled).toEqual({ value: undefined });
});
