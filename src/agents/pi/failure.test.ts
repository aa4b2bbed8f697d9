import { afterAll, describe, expect, test, vi } from "vitest";

import { CLOSED_PORT } from "../../../test/support/closed-port.ts";
import { type Fault, type ModelServer, startModelServer } from "../../../test/support/model-server.ts";
import { question } from "../../../test/support/question.ts";
import { CortexError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import { MAX_WORDS } from "./failure.ts";
import { createPiModel } from "./pi-model.ts";

// OpenAI's client complains of garbage to whatever the console was when it was first used.
const complaints = vi.spyOn(console, "error").mockReturnValue();
afterAll(() => complaints.mockRestore());

const KEY = "sk-very-secret-key";
const NOW_MS = Date.parse("2026-01-01T00:00:00Z");

const PROFILES: readonly [string, Partial<Profile>, (server: Pick<ModelServer, "port">) => string][] = [
  ["openai-compatible", { model: "local" }, ({ port }) => `http://127.0.0.1:${port}/v1`],
  ["anthropic-compatible", { model: "local" }, ({ port }) => `http://127.0.0.1:${port}`],
  ["openai", { model: "gpt-5" }, ({ port }) => `http://127.0.0.1:${port}/v1`],
  ["google", { model: "gemini-2.5-flash" }, ({ port }) => `http://127.0.0.1:${port}/v1beta`],
];

describe.each(PROFILES)("%s", (provider, more, urlOf) => {
  const profile = (server: Pick<ModelServer, "port">): Partial<Profile> => ({
    ...more,
    provider,
    baseUrl: urlOf(server),
    apiKeyEnv: "TEST_KEY",
  });

  test.each([400, 401, 403, 404, 422])("status %i is final", async (status) => {
    const { error } = await failing(profile, {
      status,
      body: { error: { message: "No, thank you", code: status } },
    });

    expect(error).toMatchObject({ code: "model_failed", transient: false });
    expect(error.message).toBe(`${provider} failed with ${more.model} (${status}): No, thank you`);
  });

  test.each([408, 409, 425, 429, 500, 502, 503, 529])(
    "status %i may pass, and is asked once",
    async (status) => {
      const { error, asked } = await failing(profile, {
        status,
        body: { error: { message: "Later", code: status } },
      });

      expect(error).toMatchObject({ code: "model_failed", transient: true });
      expect(error.message).toContain(`(${status}): Later`);
      expect(asked).toBe(1);
    },
  );

  test.each(["cut-before-first", "cut-mid-text", "cut-mid-call", "garbage"] as const)(
    "an answer that breaks off (%s) may come whole the next time",
    async (fault) => {
      const { error } = await failing(profile, fault);

      expect(error).toMatchObject({ code: "model_failed", transient: true });
      expect(error.hint).toContain("http://127.0.0.1:");
    },
  );

  test("a server that accepts and never answers is given up", async () => {
    const { error } = await failing(profile, "never-answer", { idleTimeoutMs: 20 });

    expect(error).toMatchObject({ code: "model_failed", transient: true });
    expect(error.message).toContain("no data for 0.02 s");
  });

  test("a server that stops in the middle of its answer is given up", async () => {
    const never = Promise.withResolvers<void>();
    await using server = await startModelServer({
      answer: () => ({ text: "One, two, three", gate: never.promise, gateAt: "middle" }),
    });

    const error = await rejection(profile(server), { idleTimeoutMs: 200 });

    expect(error).toMatchObject({ code: "model_failed", transient: true });
    expect(error.message).toContain("no data for");
  });

  test("a server that is not there may be there later", async () => {
    const error = await rejection(profile({ port: CLOSED_PORT }));

    expect(error).toMatchObject({ code: "model_failed", transient: true });
    expect(error.hint).toContain("running and reachable");
  });

  test.each([
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
  ])("a conversation that is too long is told from other refusals: %s", async (message) => {
    const { error } = await failing(profile, { status: 400, body: { error: { message, code: 400 } } });

    expect(error).toMatchObject({ code: "context_overflow", transient: false });
    expect(error.message).toContain(message);
  });

  test("too many tokens a minute are not a conversation that is too long", async () => {
    const body = { error: { message: "Too many tokens, please wait", code: 429 } };
    expect((await failing(profile, { status: 429, body })).error).toMatchObject({
      code: "model_failed",
      transient: true,
    });
  });

  test("a key that the provider repeats is not repeated by us", async () => {
    const body = { error: { message: `Incorrect API key provided: ${KEY}`, code: 401 } };
    const { error } = await failing(profile, { status: 401, body });

    expect(error.message).toContain("Incorrect API key provided: [key]");
    expect(JSON.stringify([error, error.message, error.stack, String(error.cause)])).not.toContain(KEY);
    expect(error.hint).toBe("Check the key in TEST_KEY.");
  });

  test("long words of a provider are trimmed", async () => {
    const { error } = await failing(profile, { status: 400, body: { error: { message: "x".repeat(3000) } } });

    expect(error.message.match(/x+…$/)?.[0].length).toBe(MAX_WORDS + 1);
  });

  test("a page that is no JSON is quoted", async () => {
    const { error } = await failing(profile, { status: 502, body: "<h1>Bad gateway</h1>" });

    expect(error).toMatchObject({ transient: true });
    expect(error.message).toContain("<h1>Bad gateway</h1>");
  });
});

describe.each(PROFILES.slice(0, 3))("%s", (provider, more, urlOf) => {
  const profile = (server: Pick<ModelServer, "port">): Partial<Profile> => ({
    ...more,
    provider,
    baseUrl: urlOf(server),
    apiKeyEnv: "TEST_KEY",
  });

  test.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": new Date(NOW_MS + 90_000).toUTCString() }, 90_000],
    [{ "retry-after": new Date(NOW_MS - 90_000).toUTCString() }, 0],
    [{ "retry-after-ms": "250" }, 250],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined],
  ])("how long to wait is said: %j", async (headers, expected) => {
    const { error } = await failing(profile, {
      status: 429,
      headers,
      body: { error: { message: "Slow down" } },
    });

    expect(error.retryAfterMs).toBe(expected);
  });

  test("a refused connection is named", async () => {
    const error = await rejection(profile({ port: CLOSED_PORT }));

    expect(error.message).toContain("ECONNREFUSED");
  });

  test("an account without credit is not asked again", async () => {
    const body = { error: { message: "You exceeded your current quota", type: "insufficient_quota" } };
    const { error } = await failing(profile, { status: 429, body });

    expect(error).toMatchObject({
      transient: false,
      hint: `Check the credit balance of your account at ${provider}.`,
    });
  });
});

test("Google says in the body how long to wait", async () => {
  const [provider, more, urlOf] = PROFILES[3]!;
  const body = { error: { code: 429, message: "Slow down", details: [{ retryDelay: "12.5s" }] } };
  const { error } = await failing(
    (server) => ({ ...more, provider, baseUrl: urlOf(server), apiKeyEnv: "TEST_KEY" }),
    { status: 429, body },
  );

  expect(error.retryAfterMs).toBe(12_500);
});

test("a provider that is overloaded in the middle of its answer may answer later", async () => {
  const data = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const { error } = await failing(
    ({ anthropicUrl }) => ({ provider: "anthropic-compatible", model: "local", baseUrl: anthropicUrl }),
    { status: 200, body: `event: error\ndata: ${JSON.stringify(data)}\n\n` },
  );

  expect(error).toMatchObject({ transient: true, message: expect.stringMatching(/: Overloaded$/) });
});

test("an answer that the provider does not want to give is not asked for again", async () => {
  const data = { choices: [{ index: 0, delta: { content: "I" }, finish_reason: "content_filter" }] };
  const { error } = await failing(
    ({ openaiUrl }) => ({ provider: "openai-compatible", model: "local", baseUrl: openaiUrl }),
    { status: 200, body: `data: ${JSON.stringify(data)}\n\ndata: [DONE]\n\n` },
  );

  expect(error).toMatchObject({ transient: false, message: expect.stringContaining("content_filter") });
});

test("a server that wants a key where the profile names none says what to add", async () => {
  const { error } = await failing(
    ({ port }) => ({ provider: "openai-compatible", model: "local", baseUrl: `http://127.0.0.1:${port}/v1` }),
    { status: 401, body: { error: { message: "Key, please" } } },
  );

  expect(error.hint).toContain("`apiKeyEnv`");
});

async function failing(
  profile: (server: ModelServer) => Partial<Profile>,
  fault: Fault,
  options: { idleTimeoutMs?: number } = {},
): Promise<{ error: CortexError; asked: number }> {
  await using server = await startModelServer({
    answer: () => ({ text: "Some text", calls: [{ name: "Read", arguments: { path: "a" } }], fault }),
  });
  return { error: await rejection(profile(server), options), asked: server.requests.length };
}

async function rejection(
  profile: Partial<Profile>,
  options: { idleTimeoutMs?: number } = {},
): Promise<CortexError> {
  const environment = (name: string): string | undefined => (name === "TEST_KEY" ? KEY : undefined);
  const model = createPiModel({ environment, clock: () => NOW_MS, ...options });
  const error: unknown = await model.ask(question(profile)).then(
    () => expect.unreachable(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CortexError);
  return error as CortexError;
}
