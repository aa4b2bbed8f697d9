/** Makes a home with everything in it, commented: what is there is left alone. Asks, where there is somebody to ask. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { makeFolder, OWNER_ONLY, refuseFile } from "../config/home.ts";
import { addShippedHooks } from "../hooks/folder/files.ts";
import { addShippedRelays, writeRelaySchemas } from "../relay/templates/shipped-files.ts";
import { findMissingKey, starterProfile } from "../runtime/starter-profile.ts";
import { calledAs } from "./as-called.ts";
import { type Invocation, text } from "../feature/command.ts";
import { askForWishes } from "./init-questions.ts";
import { isSandbox, SANDBOXES, starterFiles, type StarterFile, type Wishes } from "./starter-files.ts";
import { count, indent, table } from "../terminal/text.ts";

/** False: a wish was not written, or whoever was asked went away. */
export async function initHome(given: Invocation): Promise<void | false> {
  const { home, environment, options, print } = given;
  const folder = join(home, "config");
  refuseFile(home);
  const asked = await wishesOf(given);
  const isAsking = process.stdin.isTTY && process.stdout.isTTY && !print.json && options["yes"] !== true;
  const wishes = isAsking ? await askForWishes(asked, { folder, environment }) : asked;
  if (wishes === undefined) {
    print.note("\nNothing was written.");
    return false;
  }
  makeConfigFolder(home, folder);
  const files = starterFiles(wishes).map((file) => writeNew(folder, file));
  const hooks = addShippedHooks(home);
  const relays = addShippedRelays(home);
  await writeRelaySchemas(home);
  const all = [...files, ...[...hooks, ...relays].map((path) => ({ path, written: true }))];
  const advice = await adviceOnKey(wishes, given);
  print.data({ home, files: all.map(({ path, written }) => ({ path, written })) }, () =>
    [
      ...files.map(({ path, written }) => `${written ? "Wrote" : "Kept"} ${path}`),
      ...(hooks.length === 0 ? [] : [`Wrote ${count(hooks.length, "hook")} to ${home}/hooks`]),
      ...(relays.length === 0
        ? []
        : [`Wrote ${relays.length} files of relays to ${folder}/thread-templates and ${home}/prompts`]),
      ...advice,
      "",
      "Now try:",
      indent(table(NEXT.map(([command, about]) => [nextCommand(command, given), about]))),
    ].join("\n"),
  );
  const unmet = files.filter(({ isWished }) => !isWished);
  for (const { path } of unmet)
    print.note(`${path} was there and is kept: what you asked for is not in it. Edit it.`);
  if (unmet.length > 0) return false;
}

const NEXT = [
  ["up", "start the server; it prints a link to open in a browser"],
  ["chat", "talk to your agent, in another terminal"],
  ["status", "see what is going on"],
] as const;

function nextCommand(command: string, { options, environment }: Invocation): string {
  const { home } = options;
  return `${calledAs(environment)} ${command}${typeof home === "string" ? ` --home ${home}` : ""}`;
}

async function wishesOf(given: Invocation): Promise<Wishes> {
  const wish = {
    model: text(given, "model"),
    baseUrl: text(given, "baseUrl"),
    keyEnv: text(given, "keyEnv"),
  };
  if (wish.keyEnv !== undefined && wish.model === undefined && wish.baseUrl === undefined)
    throw new CortexError("usage", "--key-env says nothing without --model or --base-url", {
      hint: "Write `--model openai/gpt-5.1 --key-env MY_KEY`, say.",
    });
  const sandbox = text(given, "sandbox");
  if (sandbox !== undefined && !isSandbox(sandbox))
    throw new CortexError("usage", `"${sandbox}" is no setting of the sandbox`, {
      hint: `The settings are ${SANDBOXES.join(", ")}.`,
    });
  return { starter: await starterProfile(wish, fetch), sandbox };
}

async function adviceOnKey({ starter }: Wishes, { home, environment }: Invocation): Promise<string[]> {
  if (starter === undefined) return [];
  const missing = await findMissingKey(starter, (name) => environment[name]);
  return missing === undefined
    ? []
    : ["", `${missing.message}.`, missing.hint, `${home}/config/.env is a place for it.`];
}

/** `isWished`: it holds what was asked for, be it new or not. */
function writeNew(folder: string, file: StarterFile): { path: string; written: boolean; isWished: boolean } {
  const path = join(folder, file.name);
  try {
    writeFileSync(path, file.content, { flag: "wx", mode: file.mode });
    return { path, written: true, isWished: true };
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw unwritable(path, error);
    const isWished = !file.wished || readFileSync(path, "utf8") === file.content;
    return { path, written: false, isWished };
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
  return new CortexError("home_unwritable", `${path} cannot be written`, {
    hint: "Check its permissions, or name another home with --home or CORTEX_HOME.",
    cause,
  });
}
