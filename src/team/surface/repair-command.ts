/** What is wrong with the files of a team, and what was written by mistake. */
import type { TeamFinding } from "../own-team.ts";
import { type Invocation } from "../../feature/command.ts";
import { openTeam } from "./look-commands.ts";
import { count, harmless, moment, table } from "../../terminal/text.ts";

/** False: something is left that is not as it should be. */
export async function lint(given: Invocation): Promise<void | false> {
  const { options, print } = given;
  const team = await openTeam(given);
  const before = await team.lint();
  const fixed = options["fix"] === true ? await team.repair(before) : [];
  const findings = fixed.length === 0 ? before : await team.lint();
  const shown = findings.map(({ file, line, rule, message, hint, isRepairable }) => ({
    file,
    line,
    rule,
    message,
    hint,
    isRepairable,
  }));
  print.data({ findings: shown, fixed }, () =>
    [...fixed.map((file) => `Repaired ${file}`), ...findings.map(describe), summary(findings, given)].join(
      "\n",
    ),
  );
  return findings.length === 0 ? undefined : false;
}

export async function undo(given: Invocation): Promise<void> {
  const { args, options, print } = given;
  const team = await openTeam(given);
  if (options["list"] === true) {
    const items = team.history(args[0]);
    return print.data({ items, next: null }, () =>
      items.length === 0
        ? "There is nothing to undo."
        : harmless(table(items.map(({ file, until, snapshot }) => [moment(until), file, snapshot]))),
    );
  }
  const undone = await team.undo(args[0]);
  print.data(undone, () => harmless(`${undone.file} is what it was until ${moment(undone.until)}.`));
}

function describe({ file, line, rule, message, hint, isRepairable }: TeamFinding): string {
  const fix = isRepairable ? " (--fix does it)" : "";
  return harmless(`${file}:${line} ${rule}: ${message}\n  ${hint}${fix}`);
}

function summary(findings: readonly TeamFinding[], { options, print }: Invocation): string {
  if (findings.length === 0) return print.style("green", "All is as the protocol has it.");
  const easy = findings.filter(({ isRepairable }) => isRepairable).length;
  const rest = easy === 0 || options["fix"] === true ? "" : `; --fix repairs ${easy} of them`;
  return `${count(findings.length, "finding")}${rest}.`;
}
