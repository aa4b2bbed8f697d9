import { expect, test } from "vitest";

import { startModelServer } from "../../../test/support/model-server.ts";
import { question } from "../../../test/support/question.ts";
import { CortexError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import { createPiModel } from "./pi-model.ts";
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MAX_TOKENS, modelWindow } from "./provider.ts";

const LOCAL = { provider: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1", model: "local" };

test.each<[string, Partial<Profile>, { message?: string; hint?: string }]>([
  ["no provider", {}, { message: 'Profile "tested" has no provider' }],
  ["an unknown provider", { provider: "antropic" }, { message: '"antropic"', hint: "anthropic" }],
  ["a server without a baseUrl", { provider: "openai-compatible", model: "m" }, { hint: "baseUrl" }],
  ["an invalid address", { ...LOCAL, baseUrl: "localhost:11434" }, { message: '"localhost:11434"' }],
  ["credentials in the address", { ...LOCAL, baseUrl: "http://ann:secret@host/v1" }, { hint: "apiKeyEnv" }],
  ["a server without a model", { ...LOCAL, model: undefined as never }, { message: "has no model" }],
  ["a catalogue without a model", { provider: "anthropic" }, { message: "has no model", hint: "claude-" }],
  [
    "a model that is misspelt",
    { provider: "anthropic", model: "claude-sonet-4-5" },
    { message: '"claude-sonet-4-5"', hint: "claude-sonnet-4-5" },
  ],
  [
    "no key for Anthropic",
    { provider: "anthropic", model: "claude-sonnet-4-5" },
    { hint: "ANTHROPIC_API_KEY" },
  ],
  ["no key for OpenAI", { provider: "openai", model: "gpt-5" }, { hint: "OPENAI_API_KEY" }],
  ["no key for Google", { provider: "google", model: "gemini-2.5-flash" }, { hint: "GEMINI_API_KEY" }],
  ["no key for another", { provider: "groq", model: "llama-3.3-70b-versatile" }, { hint: "GROQ_API_KEY" }],
  ["no key where one is named", { ...LOCAL, apiKeyEnv: "MY_KEY" }, { hint: "MY_KEY" }],
  ["an empty key", { ...LOCAL, apiKeyEnv: "EMPTY" }, { hint: "EMPTY" }],
])("%s is a matter of configuration", async (_, profile, { message = "", hint = "" }) => {
  const error = await rejection(profile);

  expect(error).toMatchObject({ code: "model_unconfigured", transient: false });
  expect(error.message).toContain(message);
  expect(error.hint).toContain(hint);
  expect(error.message).not.toContain("secret");
});

test("a model that is newer than the catalogue is asked when its price or its server is given", async () => {
  await using server = await startModelServer({
    answer: () => ({ text: "ok", usage: { input: 1000, output: 0 } }),
  });
  const model = createPiModel({ environment: () => "key", clock: () => 0 });
  const profile = { provider: "anthropic", model: "claude-opus-99", baseUrl: server.anthropicUrl };

  expect((await model.ask(question(profile))).costUsd).toBeNull();
  expect((await model.ask(question({ ...profile, price: { input: 3, output: 9 } }))).costUsd).toBeCloseTo(
    0.003,
  );
  expect(server.requests.map((request) => request.model)).toEqual(["claude-opus-99", "claude-opus-99"]);
  expect(
    (await rejection({ provider: "openai", model: "gpt-99", price: { input: 1, output: 1 } })).hint,
  ).toContain("OPENAI_API_KEY");
});

test("the usual variable of a provider holds its key, unless the profile has its own", async () => {
  await using server = await startModelServer({ answer: () => ({ text: "ok" }) });
  const model = createPiModel({ environment: (name) => `environment-${name}`, clock: () => 0 });
  const profile = { provider: "openai", model: "gpt-5", baseUrl: server.openaiUrl };

  await model.ask(question(profile));
  await model.ask(question({ ...profile, extraEnv: { OPENAI_API_KEY: "profile-key" } }));
  await model.ask(question({ ...profile, apiKeyEnv: "MY_KEY" }));

  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer environment-OPENAI_API_KEY",
    "Bearer profile-key",
    "Bearer environment-MY_KEY",
  ]);
});

test("a token for Anthropic is sent as one", async () => {
  await using server = await startModelServer({ answer: () => ({ text: "ok" }) });
  const environment = (name: string): string | undefined =>
    name === "ANTHROPIC_AUTH_TOKEN" ? "the-token" : undefined;
  const model = createPiModel({ environment, clock: () => 0 });

  await model.ask(
    question({ provider: "anthropic", model: "claude-sonnet-4-5", baseUrl: server.anthropicUrl }),
  );

  expect(server.requests[0]!.headers).toMatchObject({ authorization: "Bearer the-token" });
});

test("the address of a server may end in a slash, and Anthropic's in its version", async () => {
  await using server = await startModelServer({ answer: () => ({ text: "ok" }) });
  const model = createPiModel({ environment: () => undefined, clock: () => 0 });

  await model.ask(question({ ...LOCAL, baseUrl: `${server.openaiUrl}/` }));
  await model.ask(
    question({ ...LOCAL, provider: "anthropic-compatible", baseUrl: `${server.anthropicUrl}/v1/` }),
  );

  expect(server.requests.map(({ protocol }) => protocol)).toEqual(["openai", "anthropic"]);
});

test("a model that only the profile knows has the usual room", async () => {
  await using server = await startModelServer({ answer: () => ({ text: "ok" }) });
  const model = createPiModel({ environment: () => undefined, clock: () => 0 });

  await model.ask(question({ ...LOCAL, baseUrl: server.openaiUrl }));

  expect(server.requests[0]!.body).toMatchObject({ max_tokens: DEFAULT_MAX_TOKENS });
});

test("the window of a model is the catalogue's, the profile's or the usual one", async () => {
  const windowOf = (profile: Partial<Profile>): Promise<number> => modelWindow(question(profile).profile);

  expect(await windowOf({ provider: "anthropic", model: "claude-sonnet-4-5" })).toBeGreaterThanOrEqual(
    200_000,
  );
  expect(await windowOf({ ...LOCAL, contextWindow: 8192 })).toBe(8192);
  expect(await windowOf(LOCAL)).toBe(DEFAULT_CONTEXT_WINDOW);
});

async function rejection(profile: Partial<Profile>): Promise<CortexError> {
  const environment = (name: string): string | undefined => (name === "EMPTY" ? "" : undefined);
  const model = createPiModel({ environment, clock: () => 0 });
  const error: unknown = await model.ask(question(profile)).then(
    () => expect.unreachable(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CortexError);
  return error as CortexError;
}
