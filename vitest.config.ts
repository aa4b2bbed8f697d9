import { availableParallelism } from "node:os";
import { join } from "node:path";

import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Longest files first: one that begins last would run alone on one core. Vitest sorts by recorded durations; where it has
 * none yet, as in CI, by size, which says little of files that wait for many child processes.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- that of the class, which returns a new array
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** More than ten seconds on two cores. */
const LONG =
  /test\/(attacks|crash|cli|docs-commands|run|chat|newcomer|keeping|demo|relay-kill|parsers|relay-cli|examples|sub-agents)|src\/(agents\/process\/check|hooks\/(judge|run\/pool|open-hooks)|keep\/backup|relay\/engine\/engine-(crash|resume)|store\/(contract|sqlite\/sqlite-store)|team\/work\/worker-crash)/;

function isLong({ moduleId }: TestSpecification): boolean {
  return LONG.test(moduleId);
}

// The threads and processes that tests start would each compile the sources anew, and the stripper of types with
// them: WebAssembly, which V8 now and then loses track of where threads come and go (nodejs/node#64500).
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/node");

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "src", include: ["src/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "test",
          include: ["test/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: ["**/*.long.test.ts"],
        },
      },
      // Rounds that take minutes, as `npm run test:long`; a few of each are in `npm test`.
      { extends: true, test: { name: "long", include: ["test/**/*.long.test.ts"] } },
    ],
    exclude: ["**/node_modules/**"],
    // Tests keep nothing between files: one process runs many of them, one after another, and loads the sources once.
    isolate: false,
    // Child processes of ours do real work on the same cores: a test that waits for one is not stuck.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A test whose loop had nothing to go over fails.
    expect: { requireAssertions: true, poll: { timeout: 90_000, interval: 20 } },
    // Much of the time is spent waiting for child processes and disks: more files at once than there are cores.
    maxWorkers: 2 * availableParallelism(),
    globalSetup: "./test/support/compile-once.ts",
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/closing-line.ts"],
  },
});
