import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { configHome, loadFiles } from "../../test/support/config-home.ts";
import type { Secret } from "../model/redact.ts";
import { collectSecrets, followSecrets } from "./secrets.ts";
import { openSettings } from "../config/settings.ts";

async function secretsOf(
  files: Readonly<Record<string, unknown>>,
  environment: Record<string, string> = {},
  token?: string,
): Promise<readonly Secret[]> {
  const loaded = await loadFiles(files, { environment });
  return collectSecrets({
    config: loaded.config,
    variable: loaded.environment,
    fileVariables: loaded.fileVariables(),
    environment,
    token,
  });
}

async function namesOf(...given: Parameters<typeof secretsOf>): Promise<Record<string, string>> {
  return Object.fromEntries((await secretsOf(...given)).map(({ name, value }) => [name, value]));
}

test("a secret is what the configuration names as one, wherever it does so", async () => {
  const files = {
    "cortex.json": {
      personas: { atlas: { permissions: { credentials: ["DEPLOY"] } } },
      channels: {
        webhooks: {
          out: { deliverTo: { url: "https://example.com", secretEnv: "SIGN_OUT" } },
          in: { scheme: "generic", secretEnv: "SIGN_IN" },
        },
      },
      webSearch: { url: "https://example.com/?q={query}", apiKeyEnv: "SEARCH" },
    },
    "profiles.json": { profiles: { mine: { provider: "openai", model: "x", apiKeyEnv: "MINE" } } },
  };
  const environment = Object.fromEntries(
    ["DEPLOY", "SIGN_OUT", "SIGN_IN", "SEARCH", "MINE"].map((name) => [name, `value of ${name}`]),
  );
  expect(await namesOf(files, { ...environment, EDITOR: "vi vi vi vi" }, "token\n")).toEqual({
    ...environment,
    "server token": "token",
  });
});

test("so is everything in .env that is no setting, also where the process has another value", async () => {
  const env = "ANYTHING=of the file\nCORTEX_HOST=127.0.0.1\nTZ=Europe/Berlin\nCORTEX_HOME=/srv/cortex\n";
  expect(await namesOf({ ".env": env })).toEqual({ ANYTHING: "of the file" });
  expect(await secretsOf({ ".env": "KEY=of the file" }, { KEY: "of the process" })).toEqual([
    { name: "KEY", value: "of the file" },
    { name: "KEY", value: "of the process" },
  ]);
});

test.each([
  "ANTHROPIC_API_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_BEARER_TOKEN_BEDROCK",
  "HF_TOKEN",
  "DB_PASSWORD",
  "api-key",
])("a variable that is called %s is a secret without being named", async (name) => {
  expect(await namesOf({}, { [name]: "12345678" })).toEqual({ [name]: "12345678" });
});

test.each(["TOKENIZERS_PARALLELISM", "KEYBOARD", "MONKEY", "PASSWORDLESS"])(
  "a variable that is called %s is none",
  async (name) => {
    expect(await namesOf({}, { [name]: "12345678" })).toEqual({});
  },
);

test("what profiles set for a backend is a secret where its name says so", async () => {
  const profile = {
    backend: "pi",
    apiKeyEnv: "MINE",
    extraEnv: { MINE: "mine", OTHER_TOKEN: "token", MODE: "fast" },
    extraOption: { "api-key": "option", verbose: "yes" },
  };
  const names = await namesOf({ "profiles.json": { profiles: { mine: profile } } });
  expect(names).toEqual({ MINE: "mine", OTHER_TOKEN: "token", "api-key": "option" });
});

test("what is a secret follows the files and the token", async () => {
  using home = configHome({ ".env": "ONE=first secret" });
  const changed = Promise.withResolvers<void>();
  await using settings = await openSettings({
    home: home.path,
    environment: {},
    flags: {},
    log: () => {},
    onChange: () => changed.resolve(),
  });
  let nowMs = 0;
  const redact = followSecrets({ home: home.path, environment: {}, settings, clock: () => nowMs });
  expect(redact("first secret, second secret, the token")).toBe("[ONE], second secret, the token");

  mkdirSync(join(home.path, "data"));
  writeFileSync(join(home.path, "data", "token"), "the token\n");
  nowMs += 1_000;
  expect(redact("first secret, the token")).toBe("[ONE], [server token]");
  rmSync(join(home.path, "data", "token"));
  nowMs -= 5_000; // The clock was set back.
  expect(redact("the token")).toBe("the token");

  home.write(".env", "TWO=second secret");
  await changed.promise;
  expect(redact("first secret, second secret")).toBe("first secret, [TWO]");
});
