/** `cortex init` as a person or a script uses it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";

import { startInTerminal } from "./support/cli.ts";
import { run, runJson } from "./support/here.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 300_000 };

async function settingsOf(home: string): Promise<Record<string, unknown>> {
  const settings = (await runJson(home, "config")) as { path: string; value: unknown }[];
  return Object.fromEntries(settings.map(({ path, value }) => [path, value]));
}

test("flags say what is written, and the end says what to try", LONG, async () => {
  using home = temporaryFolder();
  const args = ["init", "--model", "openai/gpt-5.1", "--key-env", "WORK_KEY", "--sandbox", "off"];
  const { code, out } = await run(home.path, args);
  expect(code).toBe(0);
  expect(out).toMatch(/has no key for openai\.\nSet WORK_KEY/);
  expect(out).toMatch(/\n\nNow try:\n {2}cortex up .*\n {2}cortex chat .*\n {2}cortex status .*\n$/);
  expect(await settingsOf(home.path)).toMatchObject({
    sandbox: "off",
    defaultProfile: "offline", // what the tests have in their environment
    "profiles.openai.model": "gpt-5.1",
    "profiles.openai.apiKeyEnv": "WORK_KEY",
  });
  expect(readFileSync(join(home.path, "config", "profiles.json"), "utf8")).toContain(
    '"defaultProfile": "openai"',
  );

  expect((await run(home.path, args)).code).toBe(0); // what was asked for is there
  expect(await run(home.path, ["init", "--model", "offline"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("profiles.json already existed and was kept"),
  });
  expect(readFileSync(join(home.path, "config", "profiles.json"), "utf8")).toContain("gpt-5.1");
});

test.each([
  ["init", ["init"]],
  ["team init", ["team", "init", "--yes", "--team-dir"]],
  ["agents create", ["agents", "create", "scout"]],
])("a home that `cortex %s` makes is its owner's only", LONG, async (name, args) => {
  using folder = temporaryFolder();
  const home = join(folder.path, "home");
  const place = name === "team init" ? [join(folder.path, "team")] : [];
  expect(await run(home, [...args, ...place])).toMatchObject({ code: 0 });
  expect(statSync(home).mode & 0o777).toBe(0o700);
});

test("of a server of one's own, the first model is taken", LONG, async () => {
  using home = temporaryFolder();
  const server = createServer((_, response) =>
    response.end('{"data":[{"id":"an-embedding"},{"id":"small"}]}'),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  expect((await run(home.path, ["init", "--base-url", url])).code).toBe(0);
  server.close();
  expect(await settingsOf(home.path)).toMatchObject({
    "profiles.local.model": "small",
    "profiles.local.baseUrl": url,
  });
});

test.each([
  [["--model", "gpt"], 2, /Missing provider in model "gpt"\.\nUse a name such as anthropic\//],
  [["--model", "opnai/gpt-5.1"], 1, /Unknown provider "opnai" in profile "[^"]+"\.\n.*openai/],
  [["--model", "openai/gpt-9"], 1, /Unknown model "gpt-9" of openai/],
  [["--base-url", "http://127.0.0.1:1/v1"], 2, /lists no models/],
  [["--key-env", "KEY"], 2, /--key-env needs/],
  [["--sandbox", "maybe"], 2, /Unknown sandbox mode "maybe"\.\n.*auto, require, off/],
])("%j is refused with %d before anything is written", LONG, async (args, code, message) => {
  using home = temporaryFolder();
  expect(await run(home.path, ["init", ...args])).toMatchObject({
    code,
    err: expect.stringMatching(message),
  });
  expect(existsSync(join(home.path, "config"))).toBe(false);
});

test("in a terminal it asks, and a wrong answer is asked again", LONG, async ({ skip }) => {
  using home = temporaryFolder();
  const asking = startInTerminal(home.path, "init");
  if (asking === undefined) return skip("neither script nor python3 is here to make a terminal");
  await asking.says("Model [detect]:");
  asking.type("gpt\r");
  await asking.says("Missing provider in model");
  await asking.says("Model [detect]:");
  asking.type("offline\r");
  await asking.says("Sandbox [auto]:");
  asking.type("require\r");
  await asking.says("Now try:");
  expect((await asking.ended).code).toBe(0);
  // The environment of the tests has other settings, and comes before these.
  const read = (name: string): string => readFileSync(join(home.path, "config", name), "utf8");
  expect(read("cortex.json")).toContain('\n  "sandbox": "require",');
  expect(read("profiles.json")).toContain('\n  "defaultProfile": "offline",');
});

test("whoever goes away while they are asked gets no files", LONG, async ({ skip }) => {
  using home = temporaryFolder();
  const asking = startInTerminal(home.path, "init");
  if (asking === undefined) return skip("neither script nor python3 is here to make a terminal");
  await asking.says("Model [detect]:");
  asking.type("\u0003");
  await asking.says("Nothing was written");
  expect((await asking.ended).code).toBe(1);
  expect(existsSync(join(home.path, "config"))).toBe(false);
});

test("in a terminal, --yes and what is there already ask nothing", LONG, async ({ skip }) => {
  using home = temporaryFolder();
  for (const args of [["init", "--yes"], ["init"]]) {
    const asking = startInTerminal(home.path, ...args);
    if (asking === undefined) return skip("neither script nor python3 is here to make a terminal");
    await asking.says("Now try:");
    expect((await asking.ended).code).toBe(0);
  }
});
