import { resolve } from "node:path";

import { type Backup, backUp } from "./backup.ts";
import type { LeftOut } from "./home-files.ts";
import type { Invocation } from "../feature/command.ts";
import { count, harmless, moment, size } from "../terminal/text.ts";
import { describeVerdict } from "./verify-command.ts";

const STEPS = {
  copying: "Copying the database…",
  adding: "Adding the files of the home…",
  checking: "Checking the copy…",
};

/** Of what was left out, so many are named. */
const MAX_NAMED = 10;

export async function backup({ home, args, options, print }: Invocation): Promise<void> {
  const made = backUp({
    home,
    file: resolve(args[0]!),
    withKeys: options["keys"] === true,
    nowMs: Date.now(),
    onStep: (step) => {
      if (process.stderr.isTTY) print.note(STEPS[step]);
    },
  });
  const { verdict, madeAtMs, ...rest } = made;
  const view = {
    ...rest,
    madeAt: new Date(madeAtMs!).toISOString(),
    turns: verdict.turns,
    pruned: verdict.pruned,
  };
  print.data(view, () => print.advice(describe(made)));
}

function describe({ file, bytes, files, verdict, leftOut, madeAtMs }: Backup): string {
  return [
    `${file}, ${size(bytes)}, is what there was on ${moment(madeAtMs!)}: the database and ${count(files, "file")}.`,
    describeVerdict(verdict),
    ...describeLeftOut(leftOut),
    "Not in it: logs, the history of what was typed in chats, what is outside of the home, and the token, which is made anew.",
    `\`cortex restore ${file} --home <folder>\` makes a home of it.`,
  ].join("\n");
}

function describeLeftOut(leftOut: readonly LeftOut[]): string[] {
  const named = leftOut
    .slice(0, MAX_NAMED)
    .map(({ name, why }) => `Left out: ${harmless(name)}, ${WHY[why]}.`);
  const more = leftOut.length - named.length;
  return more === 0 ? named : [...named, `Left out: ${more} more; --json lists them.`];
}

const WHY: Readonly<Record<LeftOut["why"], string>> = {
  keys: "which has your keys; --keys takes it along",
  large: "because it is large",
  special: "because it is neither file nor folder",
  unreadable: "because it may not be read",
};
