import { CHECK_LIMITS, type CheckResult, checkProtocol } from "../../agents/process/check.ts";
import { CortexError } from "../../model/errors.ts";
import { ownEnvironment } from "../../programs/environment.ts";
import { type Invocation, text } from "../../feature/command.ts";
import type { Style } from "../../terminal/print.ts";
import { count, harmless } from "../../terminal/text.ts";

/** Checks whether a program speaks the sub-agent protocol, in the environment of sub-agents. False: a check failed. */
export async function checkProgram(given: Invocation): Promise<void | false> {
  const { words, environment, print } = given;
  const limits = { ...CHECK_LIMITS, answerMs: secondsOf(text(given, "seconds")) * 1_000 };
  const onResult = (result: CheckResult): void => {
    if (!print.json) print.data(result, () => describe(result, print.style));
  };
  const checks = await checkProtocol({
    command: words,
    environment: ownEnvironment(environment),
    limits,
    onResult,
  });
  const failed = checks.filter(({ state }) => state === "failed").length;
  const skipped = checks.filter(({ state }) => state === "skipped").length;
  print.data({ command: words, failed, skipped, checks }, () => {
    const fine = `${checks.length - failed - skipped} fine`;
    const other = skipped === 0 ? "" : `, ${skipped} skipped`;
    return failed === 0 ? `\n${fine}${other}.` : `\n${count(failed, "check")} failed, ${fine}${other}.`;
  });
  if (failed > 0) return false;
}

const NAME_WIDTH = 9;

function describe({ name, expected, state, got }: CheckResult, style: Style): string {
  const mark = { ok: style("green", "✓"), failed: style("red", "✗"), skipped: style("yellow", "–") }[state];
  const line = `${mark} ${name.padEnd(NAME_WIDTH)}  ${expected}`;
  if (got === null) return line;
  return harmless(`${line}\n  ${" ".repeat(NAME_WIDTH)}  ${state === "skipped" ? "skipped" : "but"}: ${got}`);
}

const MAX_SECONDS = 3_600;

function secondsOf(word: string | undefined): number {
  if (word === undefined) return CHECK_LIMITS.answerMs / 1_000;
  const seconds = Number(word);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_SECONDS) return seconds;
  throw new CortexError("usage", `Invalid number of seconds "${word}"`, {
    hint: `Use a whole number from 1 to ${MAX_SECONDS}.`,
  });
}
