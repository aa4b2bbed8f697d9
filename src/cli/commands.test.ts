import { expect, test } from "vitest";

import { shellWords } from "../../test/support/shell-words.ts";
import { runCommandLine } from "./command-line.ts";
import type { Command } from "../feature/command.ts";
import { COMMANDS } from "./commands.ts";

/** The commands that do something, by the words that lead to them. */
function commandsOf(entries: readonly Command[], path = "cortex"): [string, Command][] {
  return entries.flatMap((entry) => {
    const here = `${path} ${entry.usage.split(" ")[0]}`;
    const inner = commandsOf(entry.commands ?? [], here);
    return entry.run === undefined ? inner : [[here, entry], ...inner];
  });
}

const all = commandsOf(COMMANDS);

test.each(all)("%s has an example that is understood, and that is of this command", async (path, entry) => {
  expect(entry.examples?.length).toBeGreaterThan(0);
  for (const example of entry.examples!) {
    expect(await understood(shellWords(example))).toBe(path);
  }
});

/** The command that these words would run. */
async function understood(words: readonly string[]): Promise<string | undefined> {
  let meant: string | undefined;
  const listening = (entries: readonly Command[], path: string): Command[] =>
    entries.map((entry) => {
      const here = `${path} ${entry.usage.split(" ")[0]}`;
      return {
        ...entry,
        commands: listening(entry.commands ?? [], here),
        ...(entry.run !== undefined && {
          run: async () => {
            meant = here;
          },
        }),
      };
    });
  await runCommandLine(listening(COMMANDS, "cortex"), { argv: words, environment: {} });
  return meant;
}

test("names of commands and of their options are there once", () => {
  const names = all.map(([path]) => path);
  expect(new Set(names).size).toBe(names.length);
  const flags = all.flatMap(([path, { options = [] }]) =>
    options.map(([flag]) => `${path} ${flag.split(" ")[0]}`),
  );
  expect(new Set(flags).size).toBe(flags.length);
});
