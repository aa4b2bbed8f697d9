/** The prompts of `cortex init`: the model and the sandbox. Enter keeps the default. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline/promises";

import { CortexError } from "../model/errors.ts";
import { chooseModel } from "../config/choose-model.ts";
import { starterProfile } from "../runtime/starter-profile.ts";
import type { Invocation } from "../feature/command.ts";
import { readAnswer } from "../terminal/read-input.ts";
import { isSandbox, SANDBOXES, type InitChoices } from "./starter-files.ts";
import { harmless } from "../terminal/text.ts";

interface InitPlace {
  readonly folder: string;
  readonly environment: Invocation["environment"];
}

/** Asks only for what no flag chose and no existing file decides. Undefined: the prompt was closed. */
export async function askForChoices(
  fromFlags: InitChoices,
  place: InitPlace,
): Promise<InitChoices | undefined> {
  const isNew = (name: string): boolean => !existsSync(join(place.folder, name));
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    let choices: InitChoices | undefined = fromFlags;
    if (choices.starter === undefined && isNew("profiles.json"))
      choices = await askForModel(lines, choices, place);
    if (choices?.sandbox === undefined && isNew("cortex.json"))
      choices = choices && (await askForSandbox(lines, choices));
    return choices;
  } finally {
    lines.close();
  }
}

async function askForModel(
  lines: Interface,
  choices: InitChoices,
  { environment }: InitPlace,
): Promise<InitChoices | undefined> {
  const { profile, why } = await chooseModel((name) => environment[name], fetch);
  process.stdout.write(
    harmless(
      [
        "Which model do you want to use?",
        "  anthropic/claude-sonnet-4-5  a provider's model, with an API key; or openai/gpt-5.1, …",
        "  http://127.0.0.1:11434/v1    your own model server, such as Ollama",
        "  offline                      the built-in model, to try things out",
        "  Enter                        detect it at each start",
        `Detected now: ${profile.model ?? profile.name}, because ${why}.`,
        "",
      ].join("\n"),
    ),
  );
  return askUntil(lines, "Model [detect]: ", choices, async (answer) => {
    const isAddress = /^https?:\/\//.test(answer);
    const model = {
      model: isAddress ? undefined : answer,
      baseUrl: isAddress ? answer : undefined,
      keyEnv: undefined,
    };
    return { ...choices, starter: await starterProfile(model, fetch) };
  });
}

async function askForSandbox(lines: Interface, choices: InitChoices): Promise<InitChoices | undefined> {
  process.stdout.write(
    [
      "How should agents run commands?",
      "  auto     in a sandbox if available, else with your approval",
      "  require  only in a sandbox",
      "  off      without a sandbox: they can do whatever you can",
      "",
    ].join("\n"),
  );
  return askUntil(lines, "Sandbox [auto]: ", choices, async (answer) => {
    if (isSandbox(answer)) return { ...choices, sandbox: answer };
    throw new CortexError("usage", `Unknown sandbox mode "${answer}"`, {
      hint: `Modes: ${SANDBOXES.join(", ")}.`,
    });
  });
}

/** Repeats the question until the answer is valid. */
async function askUntil(
  lines: Interface,
  question: string,
  defaults: InitChoices,
  use: (answer: string) => Promise<InitChoices>,
): Promise<InitChoices | undefined> {
  for (;;) {
    const answer = await readAnswer(lines, question);
    if (answer === undefined) return undefined;
    if (answer === "") return defaults;
    try {
      return await use(answer);
    } catch (error) {
      if (!(error instanceof CortexError)) throw error;
      process.stdout.write(harmless(`${error.message}.\n${error.hint}\n`));
    }
  }
}
