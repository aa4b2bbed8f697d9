/**
 * What people suffer from with assistants of this kind, each as a test through all of Cortex. A restart here is
 * the hard one: the process is gone where it stands, and another one opens the same home.
 */
import { describe, expect, test } from "vitest";

import type { ItemId } from "../src/model/ids.ts";
import { MAIN_SESSION } from "../src/model/session-key.ts";
import type { Cortex, CortexOptions } from "../src/runtime/cortex.ts";
import type { SqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { DONE, openTestCortex, testTool, writeHome } from "./support/home.ts";
import { type ModelRequest, type ModelServer, type Reply, startModelServer } from "./support/model-server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { accept, openReceiver, type Receiver } from "./support/webhook-receiver.ts";

const NEVER = new AbortController().signal;
const SILENT: Reply = { fault: "never-answer" };
const CALL: Reply = { calls: [{ name: "Work", arguments: {} }] };
const TOO_LONG: Reply = {
  fault: { status: 400, body: { error: { message: "This model's maximum context length is 10 tokens." } } },
};

interface Scene extends AsyncDisposable {
  readonly server: ModelServer;
  /** Gives what the model says from now on; undefined: it repeats the message. */
  play(reply: (request: ModelRequest) => Reply | undefined): void;
  /** Another process on the same home. */
  start(options?: Partial<CortexOptions>): Promise<Cortex>;
}

/** A home whose profiles `a`, `b` and `c` are models on a server that refuses what the strictest provider would. */
async function openScene({
  limits = {},
  broker = {},
  fallbacks = {},
  receiver,
}: SceneOptions = {}): Promise<Scene> {
  const folder = temporaryFolder();
  let reply: (request: ModelRequest) => Reply | undefined = () => undefined;
  const server = await startModelServer({
    strict: true,
    answer: (request) => reply(request) ?? { text: `re ${lastWords(request)}` },
  });
  const profile = (model: "a" | "b" | "c") => ({
    provider: "openai-compatible",
    baseUrl: server.openaiUrl,
    model,
    fallback: fallbacks[model] ?? [],
  });
  writeHome(folder.path, {
    cortex: {
      broker: { retryMs: 0, shutdownMs: 0, ...broker },
      agents: { main: { limits } },
      channels: receiver && { webhooks: { ops: { deliverTo: { url: receiver.url } } } },
    },
    profiles: { defaultProfile: "a", profiles: { a: profile("a"), b: profile("b"), c: profile("c") } },
  });
  const started: Cortex[] = [];
  return {
    server,
    play: (next) => void (reply = next),
    async start(options = {}) {
      const cortex = await openTestCortex({}, { ...options, home: folder.path });
      started.push(cortex);
      return cortex;
    },
    async [Symbol.asyncDispose]() {
      for (const cortex of started) await cortex.stop().catch(() => {}); // of some, the store is gone
      await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

interface SceneOptions {
  readonly limits?: object;
  readonly broker?: object;
  readonly fallbacks?: Partial<Record<"a" | "b" | "c", readonly string[]>>;
  readonly receiver?: Receiver;
}

/** The newest words of the user, without the line that says when and where they were said. */
function lastWords({ messages }: ModelRequest): string {
  return messages
    .findLast(({ role }) => role === "user")!
    .text.split("\n")
    .at(-1)!;
}

function wordsAsked({ server }: Scene): string[] {
  return server.requests.map(lastWords);
}

async function crash({ store }: Cortex): Promise<void> {
  await (store as SqliteStore).crash();
}

/** What was said in the end, or why nothing was. */
async function ended(cortex: Cortex, { item }: { readonly item: ItemId }): Promise<string> {
  const outcome = (await cortex.outcome(item, NEVER))!;
  if (outcome.kind !== "turn") return JSON.stringify(outcome);
  return (await cortex.store.turns.read(outcome.turn))!.messages.at(-1)!.content;
}

async function ask(cortex: Cortex, content: string, session = "main"): Promise<string> {
  return ended(cortex, await cortex.send({ content, session }));
}

/** A tool that stays at work until the test lets it go, or Cortex does not want it any more. */
function holdingTool() {
  const held = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const tool = testTool("Work", async (_, { signal }) => {
    held.resolve();
    signal.addEventListener("abort", () => gate.resolve());
    await gate.promise;
    return DONE;
  });
  return { tool, held: held.promise, letGo: gate.resolve };
}

/** Calls the tool where a turn begins with this message, and ends the turn when there is a result. */
function callsFor(words: string): (request: ModelRequest) => Reply | undefined {
  return (request) =>
    lastWords(request) === words && request.messages.at(-1)!.role === "user" ? CALL : undefined;
}

/** What the model was last told of its calls. */
function resultsRead({ server }: Scene): string[] {
  const { messages } = server.requests.at(-1)!;
  return messages.filter(({ role }) => role === "tool").map(({ text }) => text);
}

function contents({ received }: Receiver): unknown[] {
  return received.map(({ json }) => json["content"]);
}

const delivery = { channel: "webhook", place: "ops" };

describe("nobody has to say:", () => {
  test("I wrote just before the restart, and never got an answer", async () => {
    await using scene = await openScene();
    scene.play(() => SILENT);
    const first = await scene.start();
    const running = await first.send({ content: "running" });
    await expect.poll(() => wordsAsked(scene)).toEqual(["running"]);
    const waiting = await first.send({ content: "waiting", mode: "followup" });
    const elsewhere = await first.send({ content: "elsewhere", session: "other" });
    await crash(first);

    scene.play(() => undefined);
    const second = await scene.start();
    expect(await ended(second, running)).toBe("re running");
    expect(await ended(second, waiting)).toBe("re waiting");
    expect(await ended(second, elsewhere)).toBe("re elsewhere");
    expect(await second.store.counts()).toMatchObject({ turns: 3, queued: 0, dead: 0 });
  });

  test("the answer was written, the process was restarted before it was sent, and it never came", async () => {
    await using receiver = await openReceiver();
    await using scene = await openScene({ receiver });
    receiver.behave(() => {}); // takes the first and does not say so: the second stands behind it
    const first = await scene.start();
    await first.send({ content: "one", delivery });
    await expect.poll(() => contents(receiver)).toEqual(["re one"]);
    await ended(first, await first.send({ content: "two", delivery }));
    await crash(first);
    expect(contents(receiver)).toEqual(["re one"]);

    receiver.behave(accept);
    const second = await scene.start();
    await expect.poll(async () => (await second.store.outbox.list({ state: "sent" })).items).toHaveLength(2);
    expect(contents(receiver)).toEqual(["re one", "re one", "re two"]);
  });

  test("after the restart I got old answers once more", async () => {
    await using receiver = await openReceiver();
    await using scene = await openScene({ receiver });
    const first = await scene.start();
    await first.send({ content: "one", delivery });
    await expect.poll(async () => (await first.store.outbox.list({ state: "sent" })).items).toHaveLength(1);
    await crash(first);

    const second = await scene.start();
    await second.send({ content: "two", delivery });
    await expect.poll(async () => (await second.store.outbox.list({ state: "sent" })).items).toHaveLength(2);
    expect(contents(receiver)).toEqual(["re one", "re two"]);
    expect(wordsAsked(scene)).toEqual(["one", "two"]);
  });

  test("an answer that may have arrived came again, and nothing said that it was the same one", async () => {
    await using receiver = await openReceiver();
    await using scene = await openScene({ receiver });
    receiver.behave(() => {});
    const first = await scene.start();
    await first.send({ content: "one", delivery });
    await expect.poll(() => receiver.received.length).toBe(1);
    await crash(first);

    receiver.behave(accept);
    const second = await scene.start();
    await expect.poll(async () => (await second.store.outbox.list({ state: "sent" })).items).toHaveLength(1);
    const [before, again] = receiver.received;
    expect(again!.body).toBe(before!.body);
    expect(again!.headers["idempotency-key"]).toBe(before!.headers["idempotency-key"]);
    expect([before, again].map((each) => each!.headers["x-cortex-repeat"])).toEqual(["false", "true"]);
    expect(wordsAsked(scene)).toEqual(["one"]);
  });

  test("the platform delivered my message again after the restart, and it was answered twice", async () => {
    await using scene = await openScene();
    const message = { content: "pay", idempotencyKey: "m1" };
    const first = await scene.start();
    const sent = await first.send(message);
    await ended(first, sent);
    await crash(first);

    const second = await scene.start();
    expect(await second.send(message)).toEqual(sent);
    expect(await ask(second, "next")).toBe("re next");
    expect(wordsAsked(scene)).toEqual(["pay", "next"]);
  });

  test("the process died while a tool ran, and since then the provider refuses my session", async () => {
    const { tool, held, letGo } = holdingTool();
    await using scene = await openScene();
    const two = { calls: [...CALL.calls!, ...CALL.calls!] };
    scene.play((request) => callsFor("work")(request) && two);
    const first = await scene.start({ tools: [tool] });
    const work = await first.send({ content: "work" });
    await held;
    await crash(first);
    letGo();

    const second = await scene.start({ tools: [tool] });
    expect(await ended(second, work)).toBe("re work");
    expect(await ask(second, "next")).toBe("re next");
    expect(resultsRead(scene)).toEqual([expect.stringContaining("may or may not have taken effect"), "done"]);
    expect(scene.server.problems).toEqual([]);
  });

  test("I stopped it while a tool ran, and since then the provider refuses my session", async () => {
    const { tool, held } = holdingTool();
    await using scene = await openScene();
    scene.play(callsFor("work"));
    const cortex = await scene.start({ tools: [tool] });
    const work = await cortex.send({ content: "work" });
    await held;
    await cortex.abort(MAIN_SESSION);
    await ended(cortex, work);

    expect(await ask(cortex, "next")).toBe("re next");
    expect(resultsRead(scene)).toEqual([expect.stringContaining("outcome of this call is unknown")]);
    expect(scene.server.problems).toEqual([]);
  });

  test("the conversation was too long, and it compacted again and again until it had forgotten everything", async () => {
    await using scene = await openScene();
    const cortex = await scene.start();
    for (const words of ["the word is heron", "two", "three"]) await ask(cortex, words);
    const before = scene.server.requests.length;
    scene.play(() => TOO_LONG);

    expect(await ask(cortex, "four")).toContain("exceed my context window");
    expect(scene.server.requests.length - before).toBeLessThan(10);
    scene.play(() => undefined);
    expect(await ask(cortex, "five")).toBe("re five");
    expect(JSON.stringify(scene.server.requests.at(-1)!.messages)).toContain("the word is heron");
    expect(scene.server.problems).toEqual([]);
  });

  test("the provider went silent, and my session was processing for ever", async () => {
    await using scene = await openScene({ limits: { silenceMs: 500 }, broker: { maxAttempts: 50 } });
    scene.play(({ count }) => (count === 1 ? SILENT : undefined));
    const cortex = await scene.start();
    const stuck = await cortex.send({ content: "stuck" });
    const behind = await cortex.send({ content: "behind", mode: "followup" });

    expect(await ended(cortex, stuck)).toBe("re stuck");
    expect(await ended(cortex, behind)).toBe("re behind");
    await expect.poll(async () => (await cortex.store.sessions.get(MAIN_SESSION))!.state).toBe("idle");
  });

  test("one message was waiting already, and from then on I could not steer", async () => {
    const { tool, held, letGo } = holdingTool();
    await using scene = await openScene();
    scene.play(callsFor("work"));
    const cortex = await scene.start({ tools: [tool] });
    const work = await cortex.send({ content: "work" });
    await held;
    const waiting = await cortex.send({ content: "waiting", mode: "followup" });
    const steering = await cortex.send({ content: "rather this", mode: "steer" });
    letGo();

    expect(await ended(cortex, steering)).toBe("re rather this");
    expect(await cortex.outcome(steering.item, NEVER)).toEqual(await cortex.outcome(work.item, NEVER));
    expect(await ended(cortex, waiting)).toBe("re waiting");
  });

  test("one provider was busy, and all my sessions stood still", async () => {
    await using scene = await openScene({ broker: { maxConcurrentRuns: 1 } });
    const busy: Reply = { fault: { status: 429, headers: { "retry-after": "3600" } } };
    scene.play(({ model }) => (model === "a" ? busy : undefined));
    const cortex = await scene.start();
    await cortex.send({ content: "one", session: "busy" });
    await expect.poll(async () => (await cortex.store.runs.list({ state: "failed" })).items).toHaveLength(1);

    const other = await cortex.send({ content: "two", session: "other", profile: "b" });
    expect(await ended(cortex, other)).toBe("re two");
    expect((await cortex.store.counts()).dead).toBe(0);
  });

  test("one session sent what the provider refuses, and one model after another was shut off for all others", async () => {
    await using scene = await openScene({ fallbacks: { a: ["b"], b: ["c"] } });
    const refused: Reply = { fault: { status: 400, body: { error: { message: "No." } } } };
    const refusing: Readonly<Record<string, string>> = { bad: "ab", worse: "abc" };
    scene.play((request) => (refusing[lastWords(request)]?.includes(request.model) ? refused : undefined));
    const cortex = await scene.start();
    const modelsAsked = async (words: string, ...other: readonly ["other"?, "b"?]): Promise<string> => {
      const before = scene.server.requests.length;
      const [session = "one", profile] = other;
      expect(await ended(cortex, await cortex.send({ content: words, session, profile }))).toContain(
        words === "worse" ? "No." : `re ${words}`,
      );
      return scene.server.requests
        .slice(before)
        .map(({ model }) => model)
        .join("");
    };

    expect(await modelsAsked("bad")).toBe("abc");
    expect(await modelsAsked("good", "other")).toBe("a");
    expect(await modelsAsked("good", "other", "b")).toBe("b");
    expect(await modelsAsked("worse")).toBe("abc");
    expect(await modelsAsked("good", "other")).toBe("a");
    expect(await modelsAsked("good", "other", "b")).toBe("b");
    expect(await modelsAsked("good")).toBe("a"); // nor is the session itself kept from them
  });

  test("one model was busy, and those beside it were shut off with it", async () => {
    await using scene = await openScene({ fallbacks: { a: ["b", "c"], b: ["c"] } });
    const busy: Reply = { fault: { status: 429, headers: { "retry-after": "3600" } } };
    scene.play(({ model }) => (model === "a" ? busy : undefined));
    const cortex = await scene.start();
    for (const session of ["one", "two", "three"])
      expect(await ask(cortex, "hello", session)).toBe("re hello");
    const other = await cortex.send({ content: "hello", session: "other", profile: "c" });
    expect(await ended(cortex, other)).toBe("re hello");
    expect(scene.server.requests.map(({ model }) => model).join("")).toBe("abbbc");
  });

  test.each([
    ["the same call", "repeatedCalls", () => ({})],
    ["another call each time", "modelCalls", ({ count }: ModelRequest) => ({ count })],
  ])(
    "it made %s for a whole night, and a restart only gave it new strength",
    async (_, limit, parameters) => {
      const crashed = Promise.withResolvers<void>();
      const tool = testTool("Work", async () => {
        if (tool.calls.length !== 2) return DONE;
        crashed.resolve(crash(first));
        await crashed.promise;
        return DONE;
      });
      await using scene = await openScene({ limits: { modelCalls: 100, repeatedCalls: 100, [limit]: 4 } });
      scene.play((request) => ({ calls: [{ name: "Work", arguments: parameters(request) }] }));
      const first = await scene.start({ tools: [tool] });
      const work = await first.send({ content: "work" });
      await crashed.promise;

      const second = await scene.start({ tools: [tool] });
      expect(await ended(second, work)).toContain(limit);
      expect(tool.calls).toHaveLength(4);
      expect(scene.server.problems).toEqual([]);
    },
  );
});
