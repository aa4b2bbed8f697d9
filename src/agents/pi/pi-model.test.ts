import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test, vi } from "vitest";

import { SIGNATURE } from "../../../test/support/model-protocol-anthropic.ts";
import { type ModelServer, type Reply, startModelServer } from "../../../test/support/model-server.ts";
import {
  assistantMessage,
  exchange,
  question,
  READ_TOOL,
  toolCall,
  userMessage,
} from "../../../test/support/question.ts";
import { callsOf, type CallBlock } from "../../model/message.ts";
import type { Profile } from "../../model/profile.ts";
import type { Delta } from "../agent.ts";
import { createPiModel } from "./pi-model.ts";

const PROFILES: readonly [string, (server: ModelServer) => Partial<Profile>][] = [
  [
    "openai-compatible",
    ({ openaiUrl }) => ({ provider: "openai-compatible", baseUrl: openaiUrl, model: "local" }),
  ],
  [
    "anthropic-compatible",
    ({ anthropicUrl }) => ({ provider: "anthropic-compatible", baseUrl: anthropicUrl, model: "local" }),
  ],
  [
    "openai",
    ({ openaiUrl }) => ({ provider: "openai", baseUrl: openaiUrl, model: "gpt-5", apiKeyEnv: "TEST_KEY" }),
  ],
  [
    "google",
    ({ googleUrl }) => ({
      provider: "google",
      baseUrl: googleUrl,
      model: "gemini-2.5-flash",
      apiKeyEnv: "TEST_KEY",
    }),
  ],
];

const model = createPiModel({
  environment: (name) => (name === "TEST_KEY" ? "sk-of-the-test" : undefined),
  clock: () => 0,
});

function serverSaying(...replies: Reply[]): Promise<ModelServer> {
  return startModelServer({ answer: ({ count }) => replies[count - 1] ?? replies.at(-1)! });
}

describe.each(PROFILES)("%s", (_, profileOf) => {
  test("an answer arrives in pieces and is given whole", async () => {
    await using server = await serverSaying({ thinking: "Let me see.", text: "Good morning." });
    const deltas: Delta[] = [];

    const body = await model.ask(question(profileOf(server), { onDelta: (delta) => deltas.push(delta) }));

    const joined = (kind: Delta["kind"]): string =>
      deltas.flatMap((delta) => (delta.kind === kind ? [delta.text] : [])).join("");
    expect(deltas.length).toBeGreaterThan(2);
    expect(joined("thinking")).toBe("Let me see.");
    expect(joined("text")).toBe("Good morning.");
    expect(body.blocks).toMatchObject([
      { type: "thinking", thinking: "Let me see." },
      { type: "text", text: "Good morning." },
    ]);
    expect(body).toMatchObject({ stop: "stop", ...only(profileOf(server), "provider", "model") });
  });

  test("the system prompt, the words with their envelope and the tools reach the model", async () => {
    await using server = await serverSaying({ text: "ok" });
    const messages = [userMessage("What is new?", { envelope: "[09:00 telegram Ann]" })];

    await model.ask(question(profileOf(server), { exchanges: [exchange(messages)], tools: [READ_TOOL] }));

    expect(server.requests[0]).toMatchObject({
      tools: ["Read"],
      messages: [
        { role: "system", text: "Be brief." },
        { role: "user", text: "[09:00 telegram Ann]\nWhat is new?" },
      ],
    });
  });

  test("calls are given with their arguments, and their results reach the model in their order", async () => {
    await using server = await serverSaying(
      {
        text: "Two files.",
        calls: [
          { name: "Read", arguments: { path: "a" } },
          { name: "Read", arguments: { path: "b" } },
        ],
      },
      { text: "Read both." },
    );
    const profile = profileOf(server);
    const asked = [userMessage("Read a and b")];

    const first = await model.ask(question(profile, { exchanges: [exchange(asked)], tools: [READ_TOOL] }));
    const said = assistantMessage(first.blocks, first);
    const outcomes = [
      toolCall(0, { result: { text: "alpha" } }),
      toolCall(1, { status: "error", result: { text: "no such file", isError: true } }),
    ];
    const second = await model.ask(
      question(profile, { exchanges: [exchange([...asked, said], outcomes)], tools: [READ_TOOL] }),
    );

    expect(first.stop).toBe("tools");
    expect(callsOf(said).map((call) => call.arguments)).toEqual([{ path: "a" }, { path: "b" }]);
    expect(second.blocks).toMatchObject([{ type: "text", text: "Read both." }]);
    expect(server.requests[1]!.messages.slice(2)).toMatchObject([
      {
        role: "assistant",
        text: "Two files.",
        calls: [{ arguments: { path: "a" } }, { arguments: { path: "b" } }],
      },
      { role: "tool", text: "alpha" },
      { role: "tool", text: "no such file" },
    ]);
  });

  test("a call is progress while it is written, though nothing of it is shown", async () => {
    await using server = await serverSaying({ calls: [{ name: "Read", arguments: { path: "a.txt" } }] });
    const told: string[] = [];

    await model.ask(
      question(profileOf(server), {
        onDelta: ({ kind }) => told.push(kind),
        onProgress: () => told.push("progress"),
      }),
    );
    expect(new Set(told)).toEqual(new Set(["progress"]));
  });

  test("names that providers refuse are not sent back to them", async () => {
    await using server = await serverSaying({ text: "Fine." });
    const call = { type: "toolCall", id: "c", name: "read file.now", arguments: {} } as const;
    const said = [userMessage("Look."), assistantMessage([call, { ...call, id: "d", name: "" }])];
    const exchanges = [exchange([...said, userMessage("Well?")], [toolCall(0), toolCall(1)])];

    await model.ask(question(profileOf(server), { exchanges, tools: [READ_TOOL] }));
    const names = server.requests[0]!.messages.flatMap(({ calls }) => calls.map(({ name }) => name));
    expect(names).toEqual(["read_file_now", "unnamed"]);
  });

  test("its window is known", async () => {
    await using server = await serverSaying({});
    expect(
      await model.window!({ name: "a", backend: "pi", fallback: [], ...profileOf(server) }),
    ).toBeGreaterThan(100_000);
  });

  test("aborting gives what was said so far, without its calls", async () => {
    const never = Promise.withResolvers<void>();
    await using server = await serverSaying({
      text: "One, two, three, four.",
      calls: [{ name: "Read", arguments: { path: "a" } }],
      gate: never.promise,
      gateAt: "middle",
    });
    const abort = new AbortController();

    const body = await model.ask(
      question(profileOf(server), { signal: abort.signal, onDelta: () => abort.abort() }),
    );

    expect(body).toMatchObject({ stop: "aborted", blocks: [{ type: "text", text: "One, two, t" }] });
  });

  test("a question that was aborted before it was asked is not sent", async () => {
    await using server = await serverSaying({ text: "never" });

    const body = await model.ask(question(profileOf(server), { signal: AbortSignal.abort() }));

    expect(body).toMatchObject({ stop: "aborted", blocks: [] });
    expect(server.requests).toEqual([]);
  });

  test("tokens are counted, and an answer that ran out of room says so", async () => {
    const usage = { input: 100, output: 20, cacheRead: 40 };
    await using server = await serverSaying({ text: "and then", stop: "length", usage });

    const body = await model.ask(question(profileOf(server)));

    expect(body).toMatchObject({ stop: "length", usage: { ...usage, cacheWrite: 0 } });
  });

  test("tokens that a server counts by fractions are rounded", async () => {
    await using server = await serverSaying({
      text: "ok",
      usage: { input: 99.75, output: 20.25, cacheRead: 0 },
    });

    const { usage } = await model.ask(question(profileOf(server)));

    expect(usage).toEqual({ input: 100, output: 20, cacheRead: 0, cacheWrite: 0, reasoning: 0 });
  });

  // NaN is written as null.
  test.each([-7, NaN])("a server that counts tokens as %d is still understood", async (count) => {
    const usage = { input: count, output: count, cacheRead: count };
    await using server = await serverSaying({ text: "ok", usage });

    const body = await model.ask(question({ ...profileOf(server), price: { input: 2, output: 10 } }));

    expect(body.blocks).toMatchObject([{ type: "text", text: "ok" }]);
    for (const tokens of Object.values(body.usage)) expect(tokens).toSatisfy(isCount);
    expect(body.costUsd ?? 0).toBeGreaterThanOrEqual(0);
  });
});

describe.each(PROFILES.slice(0, 2))("%s", (_, profileOf) => {
  test("a server without keys is sent none", async () => {
    await using server = await serverSaying({ text: "ok" });

    await model.ask(question(profileOf(server)));

    expect(server.requests[0]!.headers).not.toHaveProperty("authorization");
    expect(server.requests[0]!.headers).not.toHaveProperty("x-api-key");
  });

  test("a key comes from the variable that the profile names", async () => {
    await using server = await serverSaying({ text: "ok" });

    await model.ask(question({ ...profileOf(server), apiKeyEnv: "TEST_KEY" }));

    const { authorization, "x-api-key": apiKey } = server.requests[0]!.headers;
    expect(authorization ?? apiKey).toContain("sk-of-the-test");
  });

  test("the cost is unknown without a price, and exact with one", async () => {
    await using server = await serverSaying({
      text: "ok",
      usage: { input: 1000, output: 100, cacheRead: 0 },
    });
    const price = { input: 2, output: 10 };

    expect((await model.ask(question(profileOf(server)))).costUsd).toBeNull();
    expect((await model.ask(question({ ...profileOf(server), price }))).costUsd).toBeCloseTo(0.003, 10);
  });

  test("arguments that are no JSON are kept as the model wrote them, and can be given back to it", async () => {
    await using server = await serverSaying(
      { calls: [{ name: "Write", arguments: '{"path": "a", "content": "half' }], stop: "length" },
      { text: "I see." },
    );
    const profile = profileOf(server);

    const first = await model.ask(question(profile));
    const said = assistantMessage(first.blocks, first);
    await model.ask(question(profile, { exchanges: [exchange([userMessage("Write a"), said])] }));

    expect((first.blocks[0] as CallBlock).arguments).toBe('{"path": "a", "content": "half');
    expect(server.requests[1]!.messages[2]!.calls).toMatchObject([
      { arguments: { unreadable_arguments: '{"path": "a", "content": "half' } },
    ]);
  });

  test("a call that was never made is given back as that", async () => {
    await using server = await serverSaying({ text: "ok" });
    const call: CallBlock = { type: "toolCall", id: "x", name: "Bash", arguments: {} };
    const exchanges = [exchange([userMessage("Go"), assistantMessage([call])])];

    await model.ask(question(profileOf(server), { exchanges }));

    expect(server.requests[0]!.messages.at(-1)).toMatchObject({
      role: "tool",
      callId: "x",
      text: "This call was not made.",
    });
  });

  test("what was said of an answer before it was aborted stays in the conversation", async () => {
    await using server = await serverSaying({ text: "ok" });
    const partial = assistantMessage([{ type: "text", text: "As I was say" }], { stop: "aborted" });
    const exchanges = [exchange([userMessage("Go on"), partial, userMessage("Stop")])];

    await model.ask(question(profileOf(server), { exchanges }));

    expect(server.requests[0]!.messages[2]).toMatchObject({ role: "assistant", text: "As I was say" });
  });
});

test("signed thinking goes back to the model that signed it, and to no other", async () => {
  await using server = await serverSaying({ thinking: "Hm.", text: "Yes." });
  const profile = { provider: "anthropic-compatible", baseUrl: server.anthropicUrl, model: "local" };
  const first = await model.ask(question(profile));
  const exchanges = [
    exchange([userMessage("Really?"), assistantMessage(first.blocks, first), userMessage("Sure?")]),
  ];

  await model.ask(question(profile, { exchanges }));
  await model.ask(question({ ...profile, model: "another" }, { exchanges }));

  expect(JSON.stringify(server.requests[1]!.body)).toContain(SIGNATURE);
  expect(JSON.stringify(server.requests[2]!.body)).not.toContain(SIGNATURE);
});

test("a conversation with calls goes on with another provider", async () => {
  await using server = await serverSaying(
    { calls: [{ name: "Read", arguments: { path: "a" } }] },
    { text: "ok" },
  );
  const first = await model.ask(question(PROFILES[2]![1](server)));
  const said = assistantMessage(first.blocks, first);
  const exchanges = [exchange([userMessage("Read a"), said], [toolCall(0, { result: { text: "alpha" } })])];

  await model.ask(question(PROFILES[1]![1](server), { exchanges }));

  const [, , assistant, tool] = server.requests[1]!.messages;
  expect(assistant!.calls[0]!.id).toMatch(/^[\w-]{1,64}$/);
  expect(tool).toMatchObject({ role: "tool", text: "alpha", callId: assistant!.calls[0]!.id });
});

test("calls that a server gives the same id are told apart", async () => {
  await using server = await serverSaying({
    calls: [
      { id: "same", name: "Read", arguments: { path: "a" } },
      { id: "same", name: "Read", arguments: { path: "b" } },
    ],
  });

  const { blocks } = await model.ask(question(PROFILES[1]![1](server)));

  expect(new Set(blocks.map((block) => (block as CallBlock).id)).size).toBe(2);
});

test("the catalogue knows what an answer costs", async () => {
  await using server = await serverSaying({
    text: "ok",
    usage: { input: 1_000_000, output: 0, cacheRead: 0 },
  });

  const body = await model.ask(question(PROFILES[3]![1](server)));

  expect(body.costUsd).toBeGreaterThan(0);
});

test("thinking, room and further options of the profile reach the model", async () => {
  await using server = await serverSaying({ text: "ok" });
  const profile: Partial<Profile> = {
    provider: "openai-compatible",
    baseUrl: server.openaiUrl,
    model: "local",
    thinking: "high",
    maxTokens: 777,
    extraOption: { top_p: "0.5", user: "somebody" },
  };

  await model.ask(question(profile));

  expect(server.requests[0]!.body).toMatchObject({
    reasoning_effort: "high",
    max_tokens: 777,
    top_p: 0.5,
    user: "somebody",
  });
});

test("the provider never sees the key of the session", async () => {
  await using server = await serverSaying({ text: "ok" });

  for (const [, profileOf] of PROFILES) await model.ask(question(profileOf(server)));

  expect(server.requests.length).toBe(PROFILES.length);
  expect(JSON.stringify(server.requests)).not.toContain("4711");
});

function only<T, K extends keyof T>(value: T, ...keys: K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, value[key]])) as Pick<T, K>;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

test("a long file that is written word by word is read once, when it is whole", async () => {
  const written = JSON.stringify({ path: "a", content: "a word ".repeat(1_000) });
  const data = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const block = { type: "tool_use", id: "c", name: "Write", input: {} };
  const pieces = written.match(/.{1,8}/g)!;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const message = { id: "m", type: "message", role: "assistant", model: "local", content: [], usage: {} };
      response.write(data("message_start", { message }));
      response.write(data("content_block_start", { index: 0, content_block: block }));
      for (const piece of pieces) {
        const delta = { type: "input_json_delta", partial_json: piece };
        response.write(data("content_block_delta", { index: 0, delta }));
      }
      response.write(data("content_block_stop", { index: 0 }));
      response.write(data("message_delta", { delta: { stop_reason: "tool_use" }, usage: {} }));
      response.end(data("message_stop", {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const parse = vi.spyOn(JSON, "parse");
  try {
    const body = await model.ask(question({ provider: "anthropic-compatible", baseUrl, model: "local" }));
    const reads = parse.mock.calls.filter(([text]) => text.startsWith(`{"path"`));
    expect(body.blocks).toMatchObject([{ name: "Write", arguments: JSON.parse(written) as object }]);
    expect(reads.length).toBeLessThan(pieces.length / 10);
  } finally {
    parse.mockRestore();
    server.close();
  }
});
