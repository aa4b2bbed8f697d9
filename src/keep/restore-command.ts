import { resolve } from "node:path";

import { inspectBackup, restoreHome } from "./restore.ts";
import type { Invocation } from "../feature/command.ts";
import { count, moment } from "../terminal/text.ts";
import { describeVerdict } from "./verify-command.ts";

const STEPS = { checking: "Checking the backup…", writing: "Writing the home…" };

/** Restores a home from a backup; with `--check`, only verifies the backup. */
export async function restoreBackup({ home, args, options, print }: Invocation): Promise<void> {
  const [path = ""] = args;
  const file = resolve(path);
  const isCheck = options["check"] === true;
  const onStep = (step: keyof typeof STEPS): void => {
    if (process.stderr.isTTY) print.note(STEPS[step]);
  };
  if (isCheck) onStep("checking");
  const { verdict, madeAtMs, ...rest } = isCheck ? inspectBackup(file) : restoreHome({ file, home, onStep });
  const madeAt = madeAtMs === undefined ? null : new Date(madeAtMs).toISOString();
  const { turns, pruned } = verdict;
  print.data({ file, home: isCheck ? null : home, ...rest, madeAt, turns, pruned }, () => {
    const what =
      madeAt === null
        ? "a plain copy of a database, without files"
        : `a backup of ${moment(madeAt)}: the database and ${count(rest.files, "file")}`;
    const summary = [`${file} is ${what}.`, describeVerdict(verdict)];
    return (isCheck ? summary : [...summary, ...next(home).map(print.advice)]).join("\n");
  });
}

function next(home: string): string[] {
  return [
    `Restored to ${home}. Run \`cortex up --home ${home}\` to continue, including queued and running work.`,
    "The API keys in config/.env are included only in backups made with --keys.",
  ];
}
