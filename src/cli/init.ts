/** Creates a home with commented starter files; existing files are kept. Prompts in a terminal. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { makeFolder, OWNER_ONLY, refuseFile } from "../config/home.ts";
import { findMissingKey, starterProfile } from "../runtime/starter-profile.ts";
import { calledAs } from "./as-called.ts";
import { type Invocation, text } from "../feature/command.ts";
import type { Feature, StarterFiles } from "../feature/feature.ts";
import { askForChoices } from "./init-questions.ts";
import { isSandbox, SANDBOXES, starterFiles, type StarterFile, type InitChoices } from "./starter-files.ts";
import { indent, table } from "../terminal/text.ts";

/** False: a choice could not be written, or the prompt was closed. */
export async function initHome(given: Invocation, features: readonly Feature[]): Promise<void | false> {
  const { home, environment, options, print } = given;
  const folder = join(home, "config");
  refuseFile(home);
  const fromFlags = await choicesOf(given);
  const isAsking = process.stdin.isTTY && process.stdout.isTTY && !print.json && options["yes"] !== true;
  const choices = isAsking ? await askForChoices(fromFlags, { folder, environment }) : fromFlags;
  if (choices === undefined) {
    print.note("\nNothing was written.");
    return false;
  }
  makeConfigFolder(home, folder);
  const files = starterFiles(choices).map((file) => writeNew(folder, file));
  const ofFeatures: StarterFiles[] = [];
  for (const { writeStarterFiles } of features) {
    if (writeStarterFiles !== undefined) ofFeatures.push(await writeStarterFiles(home));
  }
  const all = [
    ...files,
    ...ofFeatures.flatMap(({ paths }) => paths.map((path) => ({ path, written: true }))),
  ];
  const advice = await adviceOnKey(choices, given);
  print.data({ home, files: all.map(({ path, written }) => ({ path, written })) }, () =>
    [
      ...files.map(({ path, written }) => `${written ? "Wrote" : "Kept"} ${path}`),
      ...ofFeatures.flatMap(({ paths, summary }) => (paths.length === 0 ? [] : [`Wrote ${summary}`])),
      ...advice,
      "",
      "Now try:",
      indent(table(NEXT.map(([command, about]) => [nextCommand(command, given), about]))),
    ].join("\n"),
  );
  const unmet = files.filter(({ hasContent }) => !hasContent);
  for (const { path } of unmet)
    print.note(`${path} already existed and was kept without your choice; edit it.`);
  if (unmet.length > 0) return false;
}

const NEXT = [
  ["up", "start the server; it prints a login link"],
  ["chat", "talk to your agent, in another terminal"],
  ["status", "show server health and pending work"],
] as const;

function nextCommand(command: string, { options, environment }: Invocation): string {
  const { home } = options;
  return `${calledAs(environment)} ${command}${typeof home === "string" ? ` --home ${home}` : ""}`;
}

async function choicesOf(given: Invocation): Promise<InitChoices> {
  const wish = {
    model: text(given, "model"),
    baseUrl: text(given, "baseUrl"),
    keyEnv: text(given, "keyEnv"),
  };
  if (wish.keyEnv !== undefined && wish.model === undefined && wish.baseUrl === undefined)
    throw new CortexError("usage", "--key-env needs --model or --base-url", {
      hint: "For example: `--model openai/gpt-5.1 --key-env MY_KEY`.",
    });
  const sandbox = text(given, "sandbox");
  if (sandbox !== undefined && !isSandbox(sandbox))
    throw new CortexError("usage", `Unknown sandbox mode "${sandbox}"`, {
      hint: `Modes: ${SANDBOXES.join(", ")}.`,
    });
  return { starter: await starterProfile(wish, fetch), sandbox };
}

async function adviceOnKey({ starter }: InitChoices, { home, environment }: Invocation): Promise<string[]> {
  if (starter === undefined) return [];
  const missing = await findMissingKey(starter, (name) => environment[name]);
  return missing === undefined
    ? []
    : ["", `${missing.message}.`, missing.hint, `You can put it into ${home}/config/.env.`];
}

/** `hasContent`: the file has the wanted content, whether it is new or not. */
function writeNew(
  folder: string,
  file: StarterFile,
): { path: string; written: boolean; hasContent: boolean } {
  const path = join(folder, file.name);
  try {
    writeFileSync(path, file.content, { flag: "wx", mode: file.mode });
    return { path, written: true, hasContent: true };
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw unwritable(path, error);
    const hasContent = !file.hasChoice || readFileSync(path, "utf8") === file.content;
    return { path, written: false, hasContent };
  }
}

function makeConfigFolder(home: string, folder: string): void {
  try {
    makeFolder(home, OWNER_ONLY);
    makeFolder(folder);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

function unwritable(path: string, cause: unknown): CortexError {
  return new CortexError("home_unwritable", `Cannot write ${path}`, {
    hint: "Check its permissions, or set another home with --home or CORTEX_HOME.",
    cause,
  });
}
