import * as fc from "fast-check";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

import { assistant, exchange, outcome, user } from "../../../test/support/conversation.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { DEFAULT_AGENT, type TurnId } from "../../model/ids.ts";
import { type AssistantBody, callsOf, type Message, type ToolCall } from "../../model/message.ts";
import { OFFLINE_PROFILE, type Profile } from "../../model/profile.ts";
import { MAIN_SESSION } from "../../model/session-key.ts";
import type { AgentResult, Delta, Exchange, Model, Question } from "../agent.ts";
import { createLoopAgent } from "../loop.ts";
import { NOTICE } from "./unscripted.ts";
import { HUGE_LENGTH } from "./fault.ts";
import {
  chunks,
  createOfflineModel,
  DEFAULT_WINDOW,
  estimateUsage,
  MAX_CHUNKS,
  type OfflineModelOptions,
  streamText,
  sumUp,
} from "./offline-model.ts";
import { parseScript } from "./script.ts";
import { NO_USAGE } from "../../model/usage.ts";
import { question as questionOf, userMessage } from "../../../test/support/question.ts";

const SCRIPTED: Profile = { ...OFFLINE_PROFILE, script: "/play.yaml" };

function modelOf(script = "[]", parts: Partial<OfflineModelOptions> = {}): Model {
  return createOfflineModel({
    search: async () => [],
    delay: async () => undefined,
    readScript: async (file) => parseScript(script, file),
    ...parts,
  });
}

function question(exchanges: readonly Exchange[], more: Partial<Question> = {}): Question {
  return {
    profile: SCRIPTED,
    system: "You are Atlas.",
    exchanges,
    tools: [],
    session: MAIN_SESSION,
    agent: DEFAULT_AGENT,
    signal: new AbortController().signal,
    onDelta: () => undefined,
    ...more,
  };
}

function textOf({ blocks }: Pick<AssistantBody, "blocks">): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}

test("an answer is free, streamed in full, and says who gave it", async () => {
  let heard = "";
  const onDelta: Question["onDelta"] = ({ text }) => {
    heard += text;
  };
  const asked = question([exchange([user("Hello")])], { profile: OFFLINE_PROFILE, onDelta });
  const body = await modelOf().ask(asked);
  expect(body).toMatchObject({ stop: "stop", provider: "offline", model: "offline", costUsd: 0 });
  expect(heard).toBe(textOf(body));
  expect(heard).toContain(NOTICE);
});

test("a play is said and its calls are wanted, under ids that no other call has", async () => {
  const model = modelOf(
    "- {when: go, plays: [{say: Going., calls: [{tool: A}, {tool: B, args: {x: 1}}]}, {calls: [{tool: C}]}]}",
  );
  const first = await model.ask(question([exchange([user("go")])]));
  expect(first.stop).toBe("tools");
  expect(first.blocks).toEqual([
    { type: "text", text: "Going." },
    { type: "toolCall", id: "call_m0_0", name: "A", arguments: {} },
    { type: "toolCall", id: "call_m0_1", name: "B", arguments: { x: 1 } },
  ]);
  const second = await model.ask(question([exchange([user("go"), assistant("Going.", "A", "B")])]));
  expect(second.blocks).toEqual([{ type: "toolCall", id: "call_m0_2", name: "C", arguments: {} }]);
});

test("when the plays are over, what the last calls led to is told", async () => {
  const call = { id: "c", name: "A", arguments: {} };
  const turn = exchange([user("go"), assistant("", "A")], [outcome(call, 0, "It worked.")]);
  const body = await modelOf("- {when: go, plays: [{calls: [{tool: A}]}]}").ask(question([turn]));
  expect(body.stop).toBe("stop");
  expect(textOf(body)).toContain("> It worked.");
});

test("a message that the script does not know is answered as without one", async () => {
  const body = await modelOf("- {when: go, plays: [{say: Going.}]}").ask(
    question([exchange([user("Hello")])]),
  );
  expect(textOf(body)).toContain(NOTICE);
});

test("an agent is only played what is for it", async () => {
  const model = modelOf(
    "- {when: x, agent: scout, plays: [{say: scout}]}\n- {when: x, plays: [{say: others}]}",
  );
  expect(textOf(await model.ask(question([exchange([user("x")])])))).toBe("others");
});

test("a play waits as long as it says, and an abort ends the wait without a word", async () => {
  const waits: number[] = [];
  const aborter = new AbortController();
  const delay: OfflineModelOptions["delay"] = async (ms) => {
    waits.push(ms);
    if (ms === 2000) aborter.abort();
  };
  const model = modelOf(
    "- {when: slow, plays: [{say: Done., delayMs: 1000}]}\n- {when: stop, plays: [{say: a, fault: cut, delayMs: 2000}]}",
    { delay },
  );
  expect(textOf(await model.ask(question([exchange([user("slow")])])))).toBe("Done.");
  const aborted = await model.ask(question([exchange([user("stop")])], { signal: aborter.signal }));
  expect(aborted).toMatchObject({ stop: "aborted", blocks: [] });
  expect(waits).toEqual([1000, 2000]);
});

test("an abort between two pieces leaves the text so far, and no calls", async () => {
  const aborter = new AbortController();
  let heard = "";
  const body = await modelOf(`- {when: go, plays: [{say: "${"word ".repeat(50)}", calls: [{tool: A}]}]}`).ask(
    question([exchange([user("go")])], {
      signal: aborter.signal,
      onDelta: ({ text }) => {
        heard += text;
        aborter.abort();
      },
    }),
  );
  expect(body).toMatchObject({ stop: "aborted", blocks: [{ type: "text", text: heard }] });
  expect(heard.length).toBeLessThan(50);
});

test("a fault happens as often as it says, in each turn, and then the play is played", async () => {
  const model = modelOf("- {when: go, plays: [{say: At last., fault: {kind: 529, times: 2}}]}");
  for (const turn of ["a", "b"]) {
    const asked = question([exchange([user("go")], [], turn)]);
    await expect(model.ask(asked)).rejects.toMatchObject({ code: "model_failed", transient: true });
    await expect(model.ask(asked)).rejects.toMatchObject({ code: "model_failed", transient: true });
    expect(textOf(await model.ask(asked))).toBe("At last.");
  }
});

test("a fault without a number happens every time", async () => {
  const model = modelOf("- {when: go, plays: [{fault: refused}]}");
  for (let attempt = 0; attempt < 5; attempt++) {
    await expect(model.ask(question([exchange([user("go")])]))).rejects.toMatchObject({ transient: false });
  }
});

test.each([
  ["cut", ""],
  ["cut-text", "Half"],
  ["cut-call", "Half way"],
])("%s is noticed after %j was heard", async (kind, expected) => {
  let heard = "";
  const onDelta: Question["onDelta"] = ({ text }) => {
    heard += text;
  };
  const model = modelOf(`- {when: go, plays: [{say: Half way, calls: [{tool: A}], fault: ${kind}}]}`);
  const asked = question([exchange([user("go")])], { onDelta });
  await expect(model.ask(asked)).rejects.toMatchObject({ code: "model_failed", transient: true });
  expect(heard).toBe(expected);
});

test("odd answers keep the form of an answer", async () => {
  const ask = async (kind: string): Promise<AssistantBody> =>
    modelOf(`- {when: go, plays: [{calls: [{tool: A}, {tool: B}], fault: ${kind}}]}`).ask(
      question([exchange([user("go")])]),
    );
  expect(await ask("empty")).toMatchObject({ blocks: [], stop: "stop" });
  expect(textOf(await ask("huge"))).toHaveLength(HUGE_LENGTH);
  expect(await ask("unknown-tool")).toMatchObject({ stop: "tools" });
  const ids = (await ask("duplicate-ids")).blocks.map((block) => (block.type === "toolCall" ? block.id : ""));
  expect(ids).toEqual([ids[0], ids[0]]);
});

test("a script is read from its file, and what is wrong with it is said", async () => {
  using folder = temporaryFolder();
  const script = join(folder.path, "play.yaml");
  const model = createOfflineModel({ search: async () => [], delay: async () => undefined });
  const asked = question([exchange([user("go")])], { profile: { ...OFFLINE_PROFILE, script } });
  await expect(model.ask(asked)).rejects.toMatchObject({ code: "script_invalid" });
  await writeFile(script, "- {when: go, plays: [{say: From a file.}]}");
  expect(textOf(await model.ask(asked))).toBe("From a file.");
});

test("the same question gets the same bytes, whatever it is, and never an exception", async () => {
  const word = fc.constantFrom(
    "/tool",
    "Read",
    "{",
    "}",
    "\n",
    "colour",
    "hello",
    "what did I say",
    "?",
    "{}",
    "$1",
  );
  const content = fc
    .array(fc.oneof(word, fc.string({ unit: "binary" })), { maxLength: 12 })
    .map((words) => words.join(" "));
  const part = fc.oneof(
    content.map((text) => user(text)),
    content.map((text) => assistant(text, "Read")),
  );
  const turn = fc.array(part, { maxLength: 5 }).map((parts) => exchange(parts));
  const search: OfflineModelOptions["search"] = async (text) => [
    { id: "event-1", text: `Found ${text}`, atMs: NaN },
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 4 }), async (exchanges) => {
      const script = "- {when: '(hello)', plays: [{say: '$1 {{message}}'}]}";
      const first = await modelOf(script, { search }).ask(question(exchanges));
      const second = await modelOf(script, { search }).ask(question(exchanges));
      expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    }),
  );
});

test("the script in the documentation can be played", async () => {
  const page = await readFile(new URL("../../../docs/offline.md", import.meta.url), "utf8");
  const script = /```yaml\n(.*?)```/s.exec(page)?.[1];
  const model = modelOf(script);
  const deploy = exchange([user("Deploy shop now")]);
  expect(await model.ask(question([deploy]))).toMatchObject({
    blocks: [
      { text: "Looking at shop first." },
      { name: "Read", arguments: { path: "services/shop.md" } },
      { name: "Bash", arguments: { command: "git log -1 -- services/shop.md" } },
    ],
  });
  expect(textOf(await model.ask(question([exchange([user("Anything")])])))).toBe("You wrote: Anything");
});

const PLAYS = "- {when: go, plays: [{calls: [{tool: A, args: {n: 1}}]}, {calls: [{tool: B}]}]}";

test.each([
  ["lines", '/tool A {"n": 1}\n/tool B {}'],
  ["a script", "go"],
])("two calls by %s and an answer make a turn, also one that was cut off between them", async (_, query) => {
  const whole = startTurn(query);
  const result = await runTurn(whole);
  expect(result).toMatchObject({
    kind: "done",
    answer: { content: expect.stringContaining("> B was here") },
  });
  expect(whole.toolCalls.map(({ tool }) => tool)).toEqual(["A", "B"]);
  expect(new Set(whole.messages.flatMap(callsOf).map(({ id }) => id)).size).toBe(2);

  const cut = startTurn(query);
  expect(await runTurn(cut, { parkBefore: 1 })).toEqual({ kind: "parked" });
  expect(cut.toolCalls.map(({ tool }) => tool)).toEqual(["A"]);
  expect(await runTurn(cut)).toEqual(result);
  expect(cut).toEqual(whole);
});

interface Journal {
  readonly messages: Message[];
  readonly toolCalls: ToolCall[];
}

function startTurn(query: string): Journal {
  return { messages: [...exchange([user(query)]).messages], toolCalls: [] };
}

/** Runs a turn with a model that knows nothing but the journal, as after a restart. */
async function runTurn(journal: Journal, options: { parkBefore?: number } = {}): Promise<AgentResult> {
  const agent = createLoopAgent({ model: modelOf(PLAYS), clock: () => 0, mintId: () => "message" });
  return agent.run({
    profile: SCRIPTED,
    session: MAIN_SESSION,
    agent: DEFAULT_AGENT,
    turn: "turn" as TurnId,
    system: "",
    history: [],
    current: journal,
    tools: [],
    signal: new AbortController().signal,
    beforeModelCall: async () => ({ kind: "go", messages: [] }),
    record: async (message) => {
      journal.messages.push(message);
    },
    callTool: async (call, ordinal) => {
      if (ordinal === options.parkBefore) return { kind: "park" };
      const made = outcome(call, ordinal, `${call.name} was here`);
      journal.toolCalls.push(made);
      return { kind: "done", call: made };
    },
    onDelta: () => undefined,
  });
}

test("four characters that are read or said are a token", () => {
  const system = "12345678";
  const said = [{ type: "text", text: "12345" } as const];
  expect(estimateUsage({ system, exchanges: [] }, said)).toEqual({ ...NO_USAGE, input: 2, output: 2 });
});

test("envelopes, calls and their results are read too, and nothing twice", () => {
  const call = { id: "c", name: "List", arguments: {} };
  const parts = [user("12345678", "123"), assistant("12", "List"), user("1234")];
  const turn = exchange(parts, [outcome(call, 0, "123456789012")]);
  // 3 + a line break + 8, 2 + List{}, 4, and 12 of the result.
  expect(estimateUsage({ system: "", exchanges: [turn] }, []).input).toBe((12 + 8 + 4 + 12) / 4);
});

test("a call that is wanted counts as output", () => {
  const call = { type: "toolCall", id: "c", name: "List", arguments: { a: 1 } } as const;
  expect(estimateUsage({ system: "", exchanges: [] }, [call]).output).toBe(3);
});

const text = Array.from({ length: 1_000 }, (_, i) => `line ${i} ${"x".repeat(200)}`).join("\n");
const exchanges = [{ messages: [userMessage(text)], toolCalls: [] }];

test("the newest lines are kept, each shortened, within a tenth of the window", () => {
  const summary = sumUp(exchanges, 8_000);
  expect(summary).toMatch(/line 999 x{91}…$/);
  expect(summary.length / 4).toBeLessThan(8_000 * 0.1 + 20);
});

test("the offline model sums up without its script, the same each time", async () => {
  const readScript = () => expect.unreachable();
  const model = createOfflineModel({ search: async () => [], delay: async () => {}, readScript });
  const asked = questionOf({ backend: "offline", script: "/s.yaml" }, { exchanges, purpose: "summary" });

  const { blocks } = await model.ask(asked);
  expect(blocks).toEqual([{ type: "text", text: sumUp(exchanges, DEFAULT_WINDOW) }]);
  expect(await model.ask(asked)).toMatchObject({ blocks });
});

test("its window is what the profile says", async () => {
  const model = createOfflineModel({ search: async () => [], delay: async () => {} });
  expect(await model.window!({ name: "a", backend: "offline", fallback: [] })).toBe(DEFAULT_WINDOW);
  expect(await model.window!({ name: "a", backend: "offline", fallback: [], contextWindow: 50 })).toBe(50);
});

test("the pieces of any text make the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 2000 }), (text) => {
      const pieces = [...chunks(text)];
      expect(pieces.join("")).toBe(text);
      expect(pieces.every((piece) => piece !== "" && piece.isWellFormed())).toBe(true);
    }),
  );
});

test("a piece ends after a word", () => {
  expect([...chunks("The quick brown fox jumps over the lazy dog.")]).toEqual([
    "The quick brown fox jumps ",
    "over the lazy dog.",
  ]);
});

test("a text of megabytes has no more pieces than are allowed", () => {
  const count = [...chunks("word ".repeat(1_000_000))].length;
  expect(count).toBeGreaterThan(MAX_CHUNKS / 2);
  expect(count).toBeLessThanOrEqual(MAX_CHUNKS);
});

test("nothing is said after the signal, and what was said is given back", () => {
  const aborter = new AbortController();
  const heard: string[] = [];
  const onDelta = (delta: Delta): void => {
    heard.push(delta.text);
    if (heard.length === 2) aborter.abort();
  };
  const said = streamText("one two three four five ".repeat(10), { onDelta, signal: aborter.signal });
  expect(heard).toHaveLength(2);
  expect(said).toBe(heard.join(""));
});
