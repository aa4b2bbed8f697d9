import { resolve } from "node:path";

import { type Backup, backUp } from "./backup.ts";
import type { LeftOut } from "./home-files.ts";
import type { Invocation } from "../feature/command.ts";
import { count, harmless, moment, size } from "../terminal/text.ts";
import { describeVerdict } from "./verify-command.ts";

const STEPS = {
  copying: "Copying the database…",
  adding: "Adding the home's files…",
  checking: "Checking the copy…",
};

/** Maximum number of skipped files to list. */
const MAX_NAMED = 10;

export async function backup({ home, args, options, print }: Invocation): Promise<void> {
  const [file = ""] = args;
  const made = backUp({
    home,
    file: resolve(file),
    withKeys: options["keys"] === true,
    nowMs: Date.now(),
    onStep: (step) => {
      if (process.stderr.isTTY) print.note(STEPS[step]);
    },
  });
  const { verdict, madeAtMs, ...rest } = made;
  const view = {
    ...rest,
    madeAt: new Date(madeAtMs).toISOString(),
    turns: verdict.turns,
    pruned: verdict.pruned,
  };
  print.data(view, () => print.advice(describe(made)));
}

function describe({ file, bytes, files, verdict, leftOut, madeAtMs }: Backup): string {
  return [
    `Wrote ${file}, ${size(bytes)}: the database and ${count(files, "file")} as of ${moment(madeAtMs)}.`,
    describeVerdict(verdict),
    ...describeLeftOut(leftOut),
    "Not included: logs, the chat input history, files outside the home, and the token, which is created anew.",
    `Run \`cortex restore ${file} --home <folder>\` to restore it.`,
  ].join("\n");
}

function describeLeftOut(leftOut: readonly LeftOut[]): string[] {
  const named = leftOut
    .slice(0, MAX_NAMED)
    .map(({ name, why }) => `Skipped: ${harmless(name)}, ${WHY[why]}.`);
  const more = leftOut.length - named.length;
  return more === 0 ? named : [...named, `Skipped: ${more} more; --json lists them.`];
}

const WHY: Readonly<Record<LeftOut["why"], string>> = {
  keys: "which contains your API keys; use --keys to include it",
  large: "too large",
  special: "not a file or folder",
  unreadable: "not readable",
};
