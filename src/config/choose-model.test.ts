import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";

import { chooseModel } from "./choose-model.ts";

const nothing = (): undefined => undefined;
const unreachable: typeof fetch = () => Promise.reject(new TypeError("fetch failed"));

/** A machine with a server on each of these ports that answers with this. */
async function machine(answers: Readonly<Record<number, { status?: number; body: string }>>) {
  const server = createServer((request, response) => {
    const { status = 200, body } = answers[Number(request.headers["x-port"])]!;
    response.writeHead(request.url === "/v1/models" ? status : 404).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const request: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (answers[Number(url.port)] === undefined) return unreachable(input);
    const { signal: _, ...rest } = init ?? {}; // a busy core is no reason to be absent
    return fetch(`http://127.0.0.1:${port}${url.pathname}`, { ...rest, headers: { "x-port": url.port } });
  };
  return {
    request,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

const models = (...ids: readonly unknown[]) => ({
  body: JSON.stringify({ data: ids.map((id) => ({ id })) }),
});

test.each([
  [{ ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" }, "anthropic", "ANTHROPIC_API_KEY"],
  [{ ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "b" }, "openai", "OPENAI_API_KEY"],
  [{ GEMINI_API_KEY: "c" }, "google", "GEMINI_API_KEY"],
])("with %o set, the model is one of %s", async (variables: Record<string, string>, provider, variable) => {
  const choice = await chooseModel((name) => variables[name], unreachable);
  expect(choice).toMatchObject({
    profile: {
      name: provider,
      backend: "pi",
      provider,
      apiKeyEnv: variable,
      model: expect.stringMatching(/./),
    },
    why: `${variable} is set`,
  });
});

test("without a key, a model server on this machine is used, with its first model that talks", async () => {
  await using here = await machine({ 11434: models("nomic-embed-text", 7, "qwen3", "other") });
  expect(await chooseModel(nothing, here.request)).toEqual({
    profile: {
      name: "local",
      backend: "pi",
      provider: "openai-compatible",
      model: "qwen3",
      baseUrl: "http://127.0.0.1:11434/v1",
      fallback: [],
    },
    why: "Ollama is running on this machine and has qwen3",
  });
});

test("of two servers the first one that has a model is used", async () => {
  await using here = await machine({ 11434: models(), 1234: models("phi") });
  expect((await chooseModel(nothing, here.request)).why).toContain("LM Studio");
  await using both = await machine({ 11434: models("qwen3"), 1234: models("phi") });
  expect((await chooseModel(nothing, both.request)).why).toContain("Ollama");
});

test.each([
  ["is no model server", { body: "<html>" }],
  ["has something else there", { status: 404, body: "{}" }],
  ["answers with nonsense", { body: '{"data": [null]}' }],
  ["answers with no object", { body: "null" }],
])("a server that %s is passed over", async (_, answer) => {
  await using here = await machine({ 1234: answer });
  expect((await chooseModel(nothing, here.request)).profile.name).toBe("offline");
});

test("with nothing there, the offline model answers, and says why", async () => {
  const choice = await chooseModel(nothing, unreachable);
  expect(choice.profile).toMatchObject({ name: "offline", backend: "offline" });
  expect(choice.why).toContain("no API key");
});
