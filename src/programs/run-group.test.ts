import { expect, test } from "vitest";

import { testWorkspace } from "../../test/support/tool-context.ts";
import { runGroup } from "./run-group.ts";

test("a program waits until its output is dealt with, so that it does not pile up", async () => {
  using files = testWorkspace();
  let inHand = 0;
  let most = 0;
  const end = await runGroup({
    file: "/bin/sh",
    args: ["-c", "head -c 10000000 /dev/zero"],
    folder: files.context.workspace,
    environment: files.context.environment,
    signal: files.context.signal,
    timeoutMs: 60_000,
    graceMs: 1000,
    drainMs: 60_000,
    async onOutput() {
      inHand += 1;
      most = Math.max(most, inHand);
      await new Promise((resolve) => setImmediate(resolve));
      inHand -= 1;
    },
  });
  expect(end).toEqual({ exitCode: 0, signal: undefined, stopped: undefined });
  expect(most).toBe(1);
});

test("a program that cannot be started is an error", async () => {
  using files = testWorkspace();
  const run = runGroup({
    file: "/nonexistent",
    args: [],
    folder: files.context.workspace,
    environment: {},
    signal: files.context.signal,
    timeoutMs: 1000,
    graceMs: 1000,
    drainMs: 1000,
    onOutput: () => Promise.resolve(),
  });
  await expect(run).rejects.toMatchObject({ code: "ENOENT" });
});
