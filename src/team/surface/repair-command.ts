/** Commands that check and repair the files of a team, and undo writes. */
import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";

import { isoTime } from "../../feature/views.ts";
import { lintTeam, type TeamFinding } from "../reports/lint.ts";
import { repair } from "../reports/repair.ts";
import type { Invocation } from "../../feature/command.ts";
import { checkChat } from "./check.ts";
import { openTeam } from "./look-commands.ts";
import { problemView } from "./views.ts";
import { count, harmless, moment, table } from "../../terminal/text.ts";

/** False: problems remain. */
export async function lint(given: Invocation): Promise<void | false> {
  const { options, print } = given;
  const team = await openTeam(given);
  const before = lintTeam(await team.read(), team.user);
  const fixed = options["fix"] === true ? await repair(team.folder, before) : [];
  const findings = fixed.length === 0 ? before : lintTeam(await team.read(), team.user);
  const shown = findings.map((finding) =>
    Object.assign(problemView(finding), { isRepairable: finding.isRepairable }),
  );
  for (const { message, hint } of await checkChat(given, team.config))
    print.note(`${message}. ${hint ?? ""}`);
  const lines = [...fixed.map((file) => `Repaired ${file}`), ...findings.map(describe)];
  print.data({ findings: shown, fixed }, () => [...lines, summary(findings, given)].join("\n"));
  return findings.length === 0 ? undefined : false;
}

export async function undo(given: Invocation): Promise<void> {
  const { args, options, print } = given;
  const team = await openTeam(given);
  const file = args[0] === undefined ? undefined : pathWithin(team.root, args[0]);
  if (options["list"] === true) {
    const items = team.folder.history(file).map(savedFile).toReversed();
    return print.data({ items, next: null }, () =>
      items.length === 0
        ? "Nothing to undo."
        : harmless(table(items.map(({ file, until, snapshot }) => [moment(until), file, snapshot]))),
    );
  }
  const undone = savedFile(await team.folder.undo(file));
  print.data(undone, () => harmless(`Restored ${undone.file} as of ${moment(undone.until)}.`));
}

/** The snapshot of a file, and until when the file had that content. */
function savedFile({ path, name, atMs }: { path: string; name: string; atMs: number }) {
  return { file: path, until: isoTime(atMs), snapshot: `.cortex/snapshots/${path}/${name}` };
}

/** Accepts a path relative to the team directory, or to the working folder as the shell completes it. */
function pathWithin(root: string, file: string): string {
  const below = relative(root, resolve(file));
  const isTyped = existsSync(resolve(file)) && !below.startsWith("..");
  return isTyped && below !== "" ? below.split(sep).join("/") : file;
}

function describe({ file, line, rule, message, hint, isRepairable }: TeamFinding): string {
  const fix = isRepairable ? " (fixed by --fix)" : "";
  return harmless(`${file}:${line} ${rule}: ${message}\n  ${hint}${fix}`);
}

function summary(findings: readonly TeamFinding[], { options, print }: Invocation): string {
  if (findings.length === 0) return print.style("green", "No problems found.");
  const easy = findings.filter(({ isRepairable }) => isRepairable).length;
  const rest = easy === 0 || options["fix"] === true ? "" : `; --fix repairs ${easy} of them`;
  return `${count(findings.length, "finding")}${rest}.`;
}
