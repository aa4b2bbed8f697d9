/** The reporter whose last line a program can read, `N passed, N failed`, or who writes the whole outcome for `test/run.ts`. */
import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule, TestSpecification } from "vitest/node";

import { closingLines, type Failure, type FileOutcome, OUTCOME_FILE } from "./outcome.ts";

export default class ClosingLine implements Reporter {
  #specifications: readonly TestSpecification[] = [];

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#specifications = specifications;
  }

  onTestRunEnd(_: readonly TestModule[], errors: readonly SerializedError[]): void {
    const stray = new Set(errors);
    const files = this.#specifications.map((specification) => outcomeOf(specification, stray));
    const outcome = { files, stray: Array.from(stray, textOf) };
    const path = process.env[OUTCOME_FILE];
    if (path !== undefined) writeFileSync(path, JSON.stringify(outcome));
    // In its own turn, so that it stands below the summary of the reporter before it.
    else process.on("exit", () => console.log(closingLines(outcome).join("\n")));
  }
}

/** Takes the death of the file's own worker out of the stray errors: of those, this is the one that says whose it is. */
function outcomeOf(
  { project, moduleId, testModule }: TestSpecification,
  stray: Set<SerializedError>,
): FileOutcome {
  const path = testModule?.relativeModuleId ?? moduleId;
  const file = { project: project.name, path };
  if (testModule === undefined || testModule.state() === "pending" || testModule.state() === "queued") {
    const death = [...stray].find(({ cause }) => cause?.message.endsWith(` ${moduleId}`));
    if (death !== undefined) stray.delete(death);
    const error = death?.cause === undefined ? "The file did not run to its end" : textOf(death.cause);
    return { ...file, passed: 0, skipped: 0, untested: [], failures: [{ test: undefined, error }] };
  }
  const count = { passed: 0, skipped: 0, failed: 0, pending: 0 };
  const failures: Failure[] = [testModule, ...testModule.children.allSuites()].flatMap((suite) =>
    suite.errors().map((error) => ({ test: undefined, error: textOf(error) })),
  );
  const untested: string[] = [];
  for (const test of testModule.children.allTests()) {
    const result = test.result();
    const { state, errors } = result;
    count[state]++;
    if (result.state === "skipped" && result.note !== undefined)
      untested.push(`${test.fullName}: ${result.note}`);
    if (state === "failed")
      failures.push({ test: test.fullName, error: (errors ?? []).map(textOf).join("\n") });
  }
  return { ...file, passed: count.passed, skipped: count.skipped, untested, failures };
}

function textOf({ stack, message }: SerializedError): string {
  return stack ?? message;
}
