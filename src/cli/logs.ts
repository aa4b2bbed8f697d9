/** What the server has said, and goes on saying. Read from its file: it needs no server. */
import { closeSync, existsSync, fstatSync, readSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import { openPrivate } from "../model/private-file.ts";
import type { Invocation } from "../feature/command.ts";
import { limitOf } from "../client/ledger.ts";
import { logPath } from "../client/log-file.ts";
import { harmless, moment } from "../terminal/text.ts";

const POLL_MS = 250;
/** In place of an inode. */
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
    const nothing = print.advice("Nothing was said yet; `cortex up` starts a server.");
    return print.data({ items, next: null }, () =>
      items.length === 0 ? nothing : items.map(describe).join("\n"),
    );
  }
  for (const entry of items) print.data(entry, () => describe(entry));
  for (;;) {
    await wait(POLL_MS);
    const next = read(path, seen.end);
    if (next.inode === NO_FILE) continue; // none yet, or it was just put aside and the next one is about to be made
    const isSame = next.inode === seen.inode;
    // What came before it was put aside.
    const rest = isSame || seen.inode === NO_FILE ? "" : read(`${path}.1`, seen.end).text;
    seen = isSame ? next : read(path, 0);
    for (const entry of entriesOf(rest + seen.text)) print.data(entry, () => describe(entry));
  }
}

/** What is in a file from a place on, up to the end of its last line that is whole. */
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

/** An entry begins with its time; lines that are indented belong to the one before. */
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
