/**
 * `npm test` and `npm run test:long`: runs vitest. With `CI=true`, what failed gets a second chance.
 *
 * A test that fails on a busy machine may be wrong itself, and that must not stop a good change. So each test that failed
 * runs once more after the run, in a process of its own with nothing beside it. If it passes then, the run passes, and the
 * last lines name the test as flaky, with its first failure. If it fails again, the run fails. A file that failed as a
 * whole (it did not load, its `beforeAll` threw, its worker died) runs again as a whole.
 *
 * Errors that belong to no test, such as an unhandled rejection, fail the run: nothing says what to run again. So do
 * failures of more than `MAX_RERUNS` tests: that many are not an accident.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import {
  closingLines,
  countFailed,
  type FileOutcome,
  OUTCOME_FILE,
  type Outcome,
} from "./support/outcome.ts";
import { temporaryFolder } from "./support/temporary.ts";

const MAX_RERUNS = 10;
const RERUN_TIMEOUT_MS = 10 * 60_000;

const vitest = new URL("vitest.mjs", import.meta.resolve("vitest/package.json"));
const args = ["run", ...process.argv.slice(2)];

if (process.env.CI === "true") process.exitCode = runWithSecondChance();
else {
  process.argv.splice(2, Infinity, ...args);
  await import(vitest.href);
}

/** Returns the exit code, which agrees with the closing line. */
function runWithSecondChance(): number {
  const first = runVitest(args);
  const notes: string[] = [];
  const failing = first.files.filter(({ failures }) => failures.length > 0);
  const failed = failing.reduce((sum, { failures }) => sum + failures.length, 0);
  const isAccident = failed > 0 && failed <= MAX_RERUNS;
  if (failed > MAX_RERUNS) notes.push(`${failed} failures: too many to run again (at most ${MAX_RERUNS})`);
  const files = isAccident ? first.files.map((file) => runFailedAgain(file, notes)) : first.files;
  for (const error of first.stray) notes.push(`NOT IN A TEST: ${error.split("\n", 1)[0]}`);
  const last = { ...first, files };
  for (const line of closingLines(last, notes)) console.log(line);
  return countFailed(last) === 0 ? 0 : 1;
}

/** What the file came to once those of its failures that are flaky count as passed. */
function runFailedAgain(file: FileOutcome, notes: string[]): FileOutcome {
  const whole = file.failures.find(({ test }) => test === undefined);
  if (whole !== undefined) {
    const again = runAlone(file, undefined);
    notes.push(noteOf({ file, test: undefined, error: whole.error, isFlaky: again !== undefined }));
    return again ?? file;
  }
  const failures = file.failures.filter(({ test, error }) => {
    const isFlaky = runAlone(file, test) !== undefined;
    notes.push(noteOf({ file, test, error, isFlaky }));
    return !isFlaky;
  });
  return { ...file, failures, passed: file.passed + file.failures.length - failures.length };
}

/** Undefined when it failed, or nothing ran. */
function runAlone({ project, path }: FileOutcome, test: string | undefined): FileOutcome | undefined {
  console.log(`\nRunning again, alone: ${nameOf(path, test)}`);
  const name = test === undefined ? [] : ["--testNamePattern", `^${escapePattern(test)}$`];
  const outcome = runVitest(["run", "--project", project, ...name, resolve(path)], RERUN_TIMEOUT_MS);
  const file = outcome.files.find((other) => other.path === path);
  return countFailed(outcome) === 0 && file !== undefined && file.passed > 0 ? file : undefined;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

function noteOf(rerun: {
  file: FileOutcome;
  test: string | undefined;
  error: string;
  isFlaky: boolean;
}): string {
  const name = nameOf(rerun.file.path, rerun.test);
  if (!rerun.isFlaky) return `FAILED TWICE: ${name}`;
  return `FLAKY: ${name} failed, then passed alone. Its first failure:\n${rerun.error.replaceAll(/^/gm, "    ")}`;
}

function nameOf(path: string, test: string | undefined): string {
  return test === undefined ? path : `${path} > ${test}`;
}

function runVitest(argv: readonly string[], timeout?: number): Outcome {
  using folder = temporaryFolder();
  const path = join(folder.path, "outcome.json");
  const { status, signal } = spawnSync(process.execPath, [vitest.pathname, ...argv], {
    env: { ...process.env, [OUTCOME_FILE]: path },
    stdio: "inherit",
    ...(timeout !== undefined && { timeout }),
  });
  const outcome = existsSync(path)
    ? (JSON.parse(readFileSync(path, "utf8")) as Outcome)
    : { files: [], stray: [] };
  if (status === 0 || countFailed(outcome) > 0) return outcome;
  return { ...outcome, stray: [`vitest ended with ${signal ?? status}`] };
}
