import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

import type { Command } from "../feature/command.ts";
import { COMMANDS } from "./commands.ts";
import { writeCompletion } from "./completion.ts";

const here = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0;

/** What can come in place of the last of these words, in a shell that has read the script. */
function completeInBash(words: readonly string[], commands = COMMANDS): string[] {
  const script = `${writeCompletion("bash", commands)}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_cortex
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...words], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter((line) => line !== "");
}

test.runIf(here("bash")).each([
  [["cortex", "hoo"], ["hooks"]],
  [
    ["cortex", "dead", ""],
    ["list", "show", "retry", "drop"],
  ],
  [["cortex", "help", "fo"], ["fork"]],
  // What comes after an option with a value is that value, and what comes after that is a command again.
  [["cortex", "--home", "fork"], []],
  [["cortex", "--home", "/somewhere", "dead", "sh"], ["show"]],
  [["cortex", "up", "--po"], ["--port"]],
  [["cortex", "dead", "show", "--js"], ["--json"]],
  // What another program is given is its own affair.
  [["cortex", "sub-agent", "check", "--", "dea"], []],
])("bash completes %j with %j", (words, completions) => {
  expect(completeInBash(words)).toEqual(completions);
});

test.runIf(here("bash"))("bash offers every command of the table, at its place", () => {
  const visit = (path: readonly string[], entries: readonly Command[]): void => {
    const names = entries.map(({ usage }) => usage.split(" ")[0]!);
    expect(completeInBash([...path, ""])).toEqual(expect.arrayContaining(names));
    for (const { usage, commands } of entries) {
      if (commands !== undefined) visit([...path, usage.split(" ")[0]!], commands);
    }
  };
  visit(["cortex"], COMMANDS);
});

/** Descriptions with all that a shell could take for its own. */
const AWKWARD: readonly Command[] = [
  {
    usage: "it <file>",
    about: 'it\'s `id` $(id) "quoted" {a,b} * ? #',
    options: [["--from <file>", "it's $HOME"]],
  },
];

test.each(["bash", "zsh", "fish"].filter(here))("%s can read what is written for it", (shell) => {
  for (const commands of [COMMANDS, AWKWARD]) {
    const { status, stderr } = spawnSync(shell, ["-n"], {
      input: writeCompletion(shell, commands),
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  }
});

test.each(["zsh", "fish"])("%s is told what each command is for, in one word of the shell", (shell) => {
  const script = writeCompletion(shell, AWKWARD);
  expect(script).toContain(`it'\\''s \`id\` $(id) "quoted" {a,b} * ? #'`);
});

test.runIf(here("bash"))("nothing in a description is run", () => {
  expect(completeInBash(["cortex", ""], AWKWARD)).toEqual(["it", "help"]);
  expect(completeInBash(["cortex", "it", "--"], AWKWARD)).toContain("--from");
});

test("for another shell there is none", () => {
  expect(() => writeCompletion("tcsh", COMMANDS)).toThrow(
    expect.objectContaining({ code: "usage", hint: expect.stringContaining("bash, fish, zsh") }),
  );
});
