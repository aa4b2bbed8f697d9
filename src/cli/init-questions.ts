/** What a new home is asked for: the model that answers, and the sandbox. Each can be left as it is. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline/promises";

import { CortexError } from "../model/errors.ts";
import { chooseModel } from "../config/choose-model.ts";
import { starterProfile } from "../runtime/starter-profile.ts";
import type { Invocation } from "../feature/command.ts";
import { readAnswer } from "../terminal/read-input.ts";
import { isSandbox, SANDBOXES, type Wishes } from "./starter-files.ts";
import { harmless } from "../terminal/text.ts";

interface Place {
  readonly folder: string;
  readonly environment: Invocation["environment"];
}

/** Only for what was not said already, and for files that are not there yet. Undefined: the terminal was closed. */
export async function askForWishes(asked: Wishes, place: Place): Promise<Wishes | undefined> {
  const isNew = (name: string): boolean => !existsSync(join(place.folder, name));
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    let wishes: Wishes | undefined = asked;
    if (wishes.starter === undefined && isNew("profiles.json"))
      wishes = await askForModel(lines, wishes, place);
    if (wishes?.sandbox === undefined && isNew("cortex.json"))
      wishes = wishes && (await askForSandbox(lines, wishes));
    return wishes;
  } finally {
    lines.close();
  }
}

async function askForModel(
  lines: Interface,
  wishes: Wishes,
  { environment }: Place,
): Promise<Wishes | undefined> {
  const { profile, why } = await chooseModel((name) => environment[name], fetch);
  process.stdout.write(
    harmless(
      [
        "Which model answers?",
        "  anthropic/claude-sonnet-4-5  of a provider, with a key; or openai/gpt-5.1, …",
        "  http://127.0.0.1:11434/v1    of a server of your own, such as Ollama",
        "  offline                      the one that comes along, to try things out",
        "  Enter                        whatever is found at each start",
        `Found now: ${profile.model ?? profile.name}, because ${why}.`,
        "",
      ].join("\n"),
    ),
  );
  return askUntil(lines, "Model [whatever is found]: ", wishes, async (answer) => {
    const isAddress = /^https?:\/\//.test(answer);
    const wish = {
      model: isAddress ? undefined : answer,
      baseUrl: isAddress ? answer : undefined,
      keyEnv: undefined,
    };
    return { ...wishes, starter: await starterProfile(wish, fetch) };
  });
}

async function askForSandbox(lines: Interface, wishes: Wishes): Promise<Wishes | undefined> {
  process.stdout.write(
    [
      "How do commands of agents run?",
      "  auto     in a sandbox where there is one, else each asks you",
      "  require  in a sandbox or not at all",
      "  off      as they are; they can do all that you can",
      "",
    ].join("\n"),
  );
  return askUntil(lines, "Sandbox [auto]: ", wishes, async (answer) => {
    if (isSandbox(answer)) return { ...wishes, sandbox: answer };
    throw new CortexError("usage", `"${answer}" is no setting of the sandbox`, {
      hint: `The settings are ${SANDBOXES.join(", ")}.`,
    });
  });
}

/** Asked again until the answer can be used. */
async function askUntil(
  lines: Interface,
  question: string,
  unless: Wishes,
  use: (answer: string) => Promise<Wishes>,
): Promise<Wishes | undefined> {
  for (;;) {
    const answer = await readAnswer(lines, question);
    if (answer === undefined) return undefined;
    if (answer === "") return unless;
    try {
      return await use(answer);
    } catch (error) {
      if (!(error instanceof CortexError)) throw error;
      process.stdout.write(harmless(`${error.message}.\n${error.hint}\n`));
    }
  }
}
