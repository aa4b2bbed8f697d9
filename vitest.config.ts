import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The few long files first: one that begins last would run alone on one core. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return [...files.filter(isLong), ...files.filter((file) => !isLong(file))];
  }
}

function isLong({ moduleId }: TestSpecification): boolean {
  return /test\/(crash|simulation|cli)/.test(moduleId);
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    exclude: ["**/node_modules/**"],
    // Child processes of ours do real work on the same cores: a test that waits for one is not stuck.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    // V8 keeps a list of its code pages under hardware keys, and now and then loses track of it where threads come and
    // go, as they do with every store that a test opens: "Check failed: jit_page.has_value()" (nodejs/node#64500).
    execArgv: ["--no-memory-protection-keys"],
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/closing-line.ts"],
  },
});
