/** Prints and follows the log file of the server; works without a running server. */
import { closeSync, existsSync, fstatSync, readSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import { openPrivate } from "../model/private-file.ts";
import type { Invocation } from "../feature/command.ts";
import { limitOf } from "../client/ledger.ts";
import { logPath } from "../client/log-file.ts";
import { harmless, moment } from "../terminal/text.ts";

const POLL_MS = 250;
/** Stands for a missing inode. */
const NO_FILE = 0;

interface Entry {
  readonly at: string;
  readonly text: string;
}

export async function logs(given: Invocation): Promise<void> {
  const { home, options, print } = given;
  const limit = limitOf(given);
  const path = logPath(home);
  let seen = read(path, 0);
  const older = entriesOf(seen.text).length < limit ? read(`${path}.1`, 0).text : "";
  const items = entriesOf(older + seen.text).slice(-limit);
  if (options["follow"] !== true) {
    const empty = print.advice("The log is empty. Run `cortex up` to start a server.");
    return print.data({ items, next: null }, () =>
      items.length === 0 ? empty : items.map(describe).join("\n"),
    );
  }
  for (const entry of items) print.data(entry, () => describe(entry));
  for (;;) {
    await wait(POLL_MS);
    const next = read(path, seen.end);
    if (next.inode === NO_FILE) continue; // no file yet, or it was just rotated
    const isSame = next.inode === seen.inode;
    // The end of the rotated file.
    const rest = isSame || seen.inode === NO_FILE ? "" : read(`${path}.1`, seen.end).text;
    seen = isSame ? next : read(path, 0);
    for (const entry of entriesOf(rest + seen.text)) print.data(entry, () => describe(entry));
  }
}

/** Reads a file from an offset to the end of its last complete line. */
function read(path: string, from: number): { text: string; end: number; inode: number } {
  if (!existsSync(path)) return { text: "", end: 0, inode: NO_FILE };
  const file = openPrivate(path);
  try {
    const { size, ino: inode } = fstatSync(file);
    const content = Buffer.alloc(Math.max(0, size - from));
    const length = readSync(file, content, 0, content.length, from);
    const whole = content.subarray(0, content.subarray(0, length).lastIndexOf("\n") + 1);
    return { text: whole.toString("utf8"), end: from + whole.length, inode };
  } finally {
    closeSync(file);
  }
}

/** An entry begins with its time; indented lines continue it. */
function entriesOf(text: string): Entry[] {
  return text
    .split(/\n(?! {2})/)
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [, at = "", said = entry] = /^(\S+Z) (.*)$/s.exec(entry) ?? [];
      return { at, text: said.replaceAll("\n  ", "\n") };
    });
}

function describe({ at, text }: Entry): string {
  return `${moment(at)}  ${harmless(text).replaceAll("\n", "\n  ")}`;
}
