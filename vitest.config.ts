import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    exclude: ["**/node_modules/**"],
    // Child processes of ours do real work on the same cores: a test that waits for one is not stuck.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    reporters: ["default", "./test/support/closing-line.ts"],
  },
});
