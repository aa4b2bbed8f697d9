/** What a run of the tests came to, as its reporter tells it. */
export interface Outcome {
  readonly files: readonly FileOutcome[];
  /** Errors that belong to no test: a rejection that nobody handled, say. */
  readonly stray: readonly string[];
}

export interface FileOutcome {
  readonly project: string;
  readonly path: string;
  readonly passed: number;
  readonly skipped: number;
  /** Tests that skipped themselves, each with the reason. */
  readonly untested: readonly string[];
  readonly failures: readonly Failure[];
}

export interface Failure {
  /** Undefined: the file as a whole failed to load, in `beforeAll` or `afterAll`, or because its process died. */
  readonly test: string | undefined;
  readonly error: string;
}

/** Names the file to which the reporter writes the outcome, as JSON, instead of printing the closing line. */
export const OUTCOME_FILE = "TEST_OUTCOME";

export function countFailed({ files, stray }: Outcome): number {
  return stray.length + files.reduce((sum, { failures }) => sum + failures.length, 0);
}

/** What could not be tested here, what else there is to say, and last the count, which programs read. */
export function closingLines(outcome: Outcome, notes: readonly string[] = []): string[] {
  const passed = outcome.files.reduce((sum, file) => sum + file.passed, 0);
  const skipped = outcome.files.reduce((sum, file) => sum + file.skipped, 0);
  return [
    ...outcome.files.flatMap(({ path, untested }) => untested.map((test) => `NOT TESTED: ${path} > ${test}`)),
    ...notes,
    `${passed} passed, ${countFailed(outcome)} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`,
  ];
}
