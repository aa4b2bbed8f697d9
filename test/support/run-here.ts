/** Runs a command in this process, which takes a hundredth of the time of one of its own, and says how it ended. */
import assert from "node:assert/strict";

import { vi } from "vitest";

import { runCommandLine } from "../../src/cli/command-line.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import type { Command } from "../../src/feature/command.ts";
import type { Ended } from "./cli.ts";

let isRunning = false;

type Environment = Readonly<Record<string, string | undefined>>;

/** One at a time: what it says is taken from the outputs of the whole process. */
export async function runHere(
  environment: Environment,
  argv: readonly string[],
  commands: readonly Command[] = COMMANDS,
): Promise<Pick<Ended, "out" | "err"> & { readonly code: number }> {
  assert(!isRunning, "a command is under way: what it says would be taken for this one's");
  isRunning = true;
  const { HOME } = process.env;
  process.env["HOME"] = environment["HOME"]; // for what asks the system
  const said = { out: "", err: "" };
  const hear = (output: keyof typeof said) => (text: unknown) => {
    said[output] += String(text);
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(hear("out")),
    vi.spyOn(process.stderr, "write").mockImplementation(hear("err")),
    vi.spyOn(console, "log").mockImplementation((line) => void hear("out")(`${line}\n`)),
    vi.spyOn(console, "error").mockImplementation((line) => void hear("err")(`${line}\n`)),
  ];
  try {
    return { code: await runCommandLine(commands, { argv, environment }), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
    if (HOME === undefined) delete process.env["HOME"];
    else process.env["HOME"] = HOME;
    isRunning = false;
  }
}
