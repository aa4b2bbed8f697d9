import type { Reporter, TestModule } from "vitest/node";

/** Ends the output with one line that a program can read: `N passed, N failed`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    const skipped = count.skipped === 0 ? "" : `, ${count.skipped} skipped`;
    // In its own turn, so that it stands below the summary of the reporter before it.
    process.on("exit", () => console.log(`${count.passed} passed, ${count.failed} failed${skipped}`));
  }
}
