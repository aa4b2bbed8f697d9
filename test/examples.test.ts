/** The examples of `--help` and of docs/reference/cli.md: those that end by themselves and need nothing that is not here are run, in order. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import type { CommandEntry } from "../src/cli/command.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { runJson, startServer } from "./support/cli.ts";
import { shellWords } from "./support/shell-words.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 300_000 };
const RUNNER = fileURLToPath(new URL("support/run-commands.ts", import.meta.url));
/** What stands for an id in examples. */
const ANY_ID = "01K5G7T9M3V8W2XQ4R6Z0B1C2D";

/** Why an example is not run here. That it is understood, `src/cli/commands.test.ts` sees to. */
const NOT_RUN: readonly (readonly [example: RegExp, why: string])[] = [
  [/^(up|chat|top|demo|team watch|(events|logs) --follow|sub-agent run)\b/, "goes on until it is ended"],
  [/^(init --yes|restore)\b/, "is for a new home"],
  [/^send - /, "reads what is piped into it"],
  [/^service (install|uninstall)$/, "changes the services of whoever runs the tests"],
  [/^(approvals|dead) (show|approve|deny|answer|retry|drop)\b/, "is about one that must be there"],
  [
    /^relay (status|add|show|say|cancel|resume|run coder-review)\b/,
    "is about one that must be there, or takes long",
  ],
  [/^sub-agent check/, "is about a program of one's own"],
  [/^(backup|diff)\b/, "has tests of its own"],
  [/^team (undo agents|import|adapter)/, "has tests of its own"],
];

/** Not every home is without fault. */
const MAY_FAIL = /^(doctor|team lint)\b/;

function examplesOf(entries: readonly CommandEntry[]): string[] {
  return entries.flatMap(({ examples = [], commands = [] }) => [...examples, ...examplesOf(commands)]);
}

test("examples do what they say", LONG, async () => {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "config"));
  mkdirSync(join(home.path, "billing"));
  writeFileSync(join(home.path, "config", "cortex.json"), '{ "server": { "port": 0 } }');
  await using _ = await startServer(home.path);
  const { turnId, eventId } = (await runJson(home.path, "send", "An invoice of blue widgets", "--wait")) as {
    turnId: string;
    eventId: string;
  };
  const examples = examplesOf(COMMANDS)
    .map(shellWords)
    .filter((words) => !NOT_RUN.some(([pattern]) => pattern.test(words.join(" "))))
    .map((words) =>
      words.map((word, at) => {
        if (word === ANY_ID) return words[at - 1] === "--event" ? eventId : turnId;
        return word.replace(/^~(?=\/)/, home.path);
      }),
    );
  const commands = [["team", "init", "--yes"], ...examples];
  const { said, ended } = await runAll(commands, home.path);
  const failed = ended.filter(({ argv, code }) => code !== 0 && !MAY_FAIL.test(argv.join(" ")));
  if (failed.length > 0 || ended.length < commands.length) throw new Error(said);
  expect(examples.length).toBeGreaterThan(50);
});

async function runAll(commands: readonly (readonly string[])[], home: string) {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    CORTEX_HOME: home,
    CORTEX_PROFILE: "offline",
    CORTEX_SANDBOX: "off",
  };
  const child = spawn(process.execPath, [RUNNER], { env, cwd: home, stdio: ["pipe", "ignore", "pipe"] });
  child.stdin.end(JSON.stringify(commands));
  const [said] = await Promise.all([text(child.stderr), once(child, "close")]);
  const ended = said
    .split("\n")
    .filter((line) => line.startsWith('{"argv":'))
    .map((line) => JSON.parse(line) as { argv: string[]; code: number });
  return { said, ended };
}
