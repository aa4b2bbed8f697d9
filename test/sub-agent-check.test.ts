/** `cortex sub-agent check`, as somebody uses it who writes a sub-agent. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { run } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary.ts";

const PATIENT = { timeout: 120_000 };
const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

test("the sub-agent of Cortex itself passes every check", PATIENT, async () => {
  using home = temporaryFolder();
  const command = [process.execPath, path("bin/cortex.js"), "sub-agent", "run"];
  const { code, out, err } = await run(home.path, ["sub-agent", "check", "--", ...command]);
  expect({ code, err, out }).toEqual({ code: 0, err: "", out: expect.stringMatching(/\n14 fine\.\n$/) });
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;
test.skipIf(!hasPython)(
  `the example in Python passes every check${hasPython ? "" : ": SKIPPED, THERE IS NO python3 HERE"}`,
  PATIENT,
  async () => {
    using home = temporaryFolder();
    const command = ["python3", path("docs/examples/sub-agent.py")];
    const { code, out } = await run(home.path, ["sub-agent", "check", "--json", "--", ...command]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      command,
      failed: 0,
      skipped: 0,
      checks: expect.arrayContaining([expect.objectContaining({ name: "ready", state: "ok", got: null })]),
    });
  },
);

test("what a program does wrong is told with what was expected, and the command fails", PATIENT, async () => {
  using home = temporaryFolder();
  const { code, out } = await run(home.path, ["sub-agent", "check", "--", "echo", "two  words", "--help"]);
  expect(code).toBe(1);
  expect(out).toMatch(/^✗ ready {6}sends ready .*\n {13}but: it sent "two {2}words --help" first\n– done/);
  expect(out).toMatch(/1 check failed, 0 fine, 13 skipped\.\n$/);
});

test.each([
  [["sub-agent", "check"], /Missing required argument 'command'/],
  [["sub-agent", "check", "--seconds", "soon", "--", "true"], /Invalid number of seconds "soon"/],
])("%j is wrong usage", async (args, message) => {
  using home = temporaryFolder();
  const { code, err } = await run(home.path, args);
  expect([code, err]).toEqual([2, expect.stringMatching(message)]);
});
