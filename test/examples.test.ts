/** The examples of `--help` and of docs/reference/cli.md: those that end by themselves and need nothing that is not here are run, in order. */
import { expect, test } from "vitest";

import type { Command } from "../src/feature/command.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { playPages } from "./support/docs.ts";
import { shellWords } from "./support/shell-words.ts";

const LONG = { timeout: 300_000 };

/** Why an example is not run here. That it is understood, `src/cli/commands.test.ts` sees to. */
const NOT_RUN: readonly (readonly [example: RegExp, why: string])[] = [
  [/^(up|chat|top|demo|team watch|(events|logs) --follow|sub-agent run)\b/, "goes on until it is ended"],
  [/^(init --yes|restore)\b/, "is for a new home"],
  [
    /^channels (add|test|login|unpair|remove|pin)\b/,
    "has tests of its own, with a played platform or a plugin",
  ],
  [/^completion zsh$/, "is for another shell than the one here"],
  [/^send - /, "reads what is piped into it"],
  [/^service (install|uninstall)$/, "changes the services of whoever runs the tests"],
  [/^relay (add|say|cancel|resume)\b/, "is about one that must be there, in the right state"],
  [/^sub-agent check/, "is about a program of one's own"],
  [/^doctor --dependencies$/, "asks npm's registry"],
  [/^(backup|diff)\b/, "has tests of its own"],
  [/^team (undo agents|import|adapter)/, "has tests of its own"],
];

/** Not every home is without fault. */
const MAY_FAIL = /^cortex (doctor|team lint)\b/;

function examplesOf(entries: readonly Command[]): string[] {
  return entries.flatMap(({ examples = [], commands = [] }) => [...examples, ...examplesOf(commands)]);
}

test("examples do what they say", LONG, async () => {
  const commands = examplesOf(COMMANDS).filter(
    (line) => !NOT_RUN.some(([pattern]) => pattern.test(shellWords(line).join(" "))),
  );
  const before = ["mkdir -p ~/billing ~/site ~/.cortex/plugins/reviewer", "cortex team init --yes"];
  const played = await playPages([{ page: "--help", before, commands }]);
  const failed = played.filter(({ command, code }) => code !== 0 && !(code === 1 && MAY_FAIL.test(command)));
  expect(failed).toEqual([]);
  expect(played.length).toBe(before.length + commands.length);
  expect(commands.length).toBeGreaterThan(50);
});
