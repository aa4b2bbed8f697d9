import { createInterface } from "node:readline/promises";

import { readConfigured } from "../config/configured.ts";
import type { Invocation } from "../feature/command.ts";
import { count } from "../model/count.ts";
import { compareFolders, type FolderChanges } from "../model/folder-hash.ts";
import { pinPlugin, pluginFolder, pluginName, statePin } from "../personas/plugin-pins.ts";
import { readAnswer } from "../terminal/read-input.ts";
import { harmless } from "../terminal/text.ts";

/** Pins what it has shown, whatever happens to the folder meanwhile. False: the owner declined. */
export async function pin(given: Invocation): Promise<void | false> {
  const { home, args, options, print } = given;
  const folder = pluginFolder(args[0] ?? "", home);
  const name = pluginName(folder, home);
  const { config } = await readConfigured(given);
  const state = await statePin(folder, { home, config });
  const before = "pin" in state ? state.pin.files : [];
  const changes = compareFolders(before, state.hash.files);
  const view = { folder: name, sha256: state.hash.sha256, changes };
  if (state.kind === "pinned" || options["check"] === true)
    return print.data({ ...view, pinned: state.kind === "pinned" }, () =>
      [
        ...describeFiles(changes),
        `${name} ${state.kind === "pinned" ? "matches its pin" : "is not pinned as it is"}.`,
      ].join("\n"),
    );
  if (isPrompting(given)) {
    process.stdout.write(`${describeFiles(changes).join("\n")}\n`);
    if (!(await isAccepted(name))) return false;
    await pinPlugin(folder, state.hash, { home, by: "owner", nowMs: Date.now() });
    return print.data(undefined, () => `Pinned ${name}.`);
  }
  await pinPlugin(folder, state.hash, { home, by: "owner", nowMs: Date.now() });
  print.data({ ...view, pinned: true }, () => [...describeFiles(changes), `Pinned ${name}.`].join("\n"));
}

/** Whether a person is there to be asked. */
export function isPrompting({ print, options }: Pick<Invocation, "print" | "options">): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && !print.json && options["yes"] !== true;
}

export function describeFiles({ added, changed, removed }: FolderChanges): string[] {
  const lines = [
    ...added.map((path) => `+ ${path}`),
    ...changed.map((path) => `~ ${path}`),
    ...removed.map((path) => `- ${path}`),
  ];
  const counts = `${count(added.length, "file")} added, ${changed.length} changed, ${removed.length} removed`;
  return lines.length === 0 ? [] : [...lines.map(harmless), counts];
}

export async function isAccepted(name: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await readAnswer(lines, `Accept ${harmless(name)} as it is now? [y/N] `)) ?? "");
  } finally {
    lines.close();
  }
}
