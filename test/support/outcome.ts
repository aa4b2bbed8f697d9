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

/** The last line of a run, which programs read. */
export function closingLine(outcome: Outcome): string {
  const passed = outcome.files.reduce((sum, file) => sum + file.passed, 0);
  const skipped = outcome.files.reduce((sum, file) => sum + file.skipped, 0);
  return `${passed} passed, ${countFailed(outcome)} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}
