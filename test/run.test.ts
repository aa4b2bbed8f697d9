/** `npm test` on a small project of its own, whose tests fail in all the ways that tests can. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { temporaryFolder } from "./support/temporary.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** `isFirst` is true for the first who asks in this file, also of several processes. */
const FIRST = `
  import { existsSync, writeFileSync } from "node:fs";
  const isFirst = (name: string): boolean => {
    const mark = import.meta.filename + "." + name;
    if (existsSync(mark)) return false;
    writeFileSync(mark, "");
    return true;
  };`;
const IMPORTS = `import { afterAll, beforeAll, describe, expect, test } from "vitest";${FIRST}`;
const PASSES = `${IMPORTS} test("a", () => {}); test("b", ({ skip }) => skip("no moon"));`;

/** Runs the test files that are given, and says how that ended. */
function runTests({ ci, files }: { readonly ci: boolean; readonly files: Readonly<Record<string, string>> }) {
  using folder = temporaryFolder();
  symlinkSync(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
  const all = {
    "package.json": '{ "type": "module" }',
    "vitest.config.ts": `export default { test: { maxWorkers: 2, projects: [
      { extends: true, test: { name: "shared", include: ["shared/*.test.ts"], isolate: false } },
      { extends: true, test: { name: "own", include: ["own/*.test.ts"] } },
    ], reporters: ["default", ${JSON.stringify(join(ROOT, "test/support/closing-line.ts"))}] } };`,
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), text);
  }
  // Nothing of the run that this test belongs to.
  const env = { PATH: process.env.PATH, HOME: folder.path, NO_COLOR: "1", ...(ci && { CI: "true" }) };
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, "test/run.ts")], {
    cwd: folder.path,
    env,
    encoding: "utf8",
  });
  const lines = stdout.trimEnd().split("\n");
  const notes = lines.filter((line) => /^[A-Z]+[A-Z ]+:/.test(line)).toSorted();
  return {
    status,
    lines,
    last: lines.at(-1),
    notes,
    again: stdout.match(/^Running again, alone: .*/gm) ?? [],
  };
}

const FAILS_ONCE = `${IMPORTS}
  describe("a group", () => {
    test("fails once (of $2)? [a|b]", () => expect(isFirst("once")).toBe(false));
    test("fails once (of $2)? [a|b], and more", () => {});
  });`;
const FAILS_TWICE = `${IMPORTS} test("fails always", () => expect(1).toBe(2));`;

test("a test that fails once and passes alone is named as flaky, with its first failure, and the run passes", () => {
  const run = runTests({
    ci: true,
    files: { "own/flaky.test.ts": FAILS_ONCE, "shared/good.test.ts": PASSES },
  });
  expect(run).toMatchObject({ status: 0, last: "3 passed, 0 failed, 1 skipped" });
  const at = run.lines.indexOf(
    "FLAKY: own/flaky.test.ts > a group > fails once (of $2)? [a|b] failed, then passed alone. Its first failure:",
  );
  expect(run.lines.slice(at + 1, -1).join("\n")).toMatch(
    /^ {4}AssertionError: expected true to be false[^]*flaky\.test\.ts:/,
  );
});

test("a test that fails twice fails the run, whatever passes beside it", () => {
  const files = { "own/flaky.test.ts": FAILS_ONCE, "shared/bad.test.ts": FAILS_TWICE };
  expect(runTests({ ci: true, files })).toMatchObject({
    status: 1,
    last: "2 passed, 1 failed",
    notes: [
      "FAILED TWICE: shared/bad.test.ts > fails always",
      expect.stringContaining("FLAKY: own/flaky.test.ts > a group > fails once (of $2)? [a|b]"),
    ],
  });
});

const WHOLE = {
  "does-not-load": `if (isFirst("load")) throw new Error("no"); test("a", () => {}); test("b", () => {});`,
  "before-all": `beforeAll(() => { if (isFirst("before")) throw new Error("no"); }); test("a", () => {}); test("b", () => {});`,
  groups: `test("a", () => {});
    describe("c", () => { beforeAll(() => { if (isFirst("group")) throw new Error("no"); }); test("b", () => {}); });
    describe("d", () => { afterAll(() => { if (isFirst("after")) throw new Error("no"); }); test.skip("e", () => {}); });`,
  dies: `test("a", () => {}); test("b", () => { if (isFirst("death")) process.kill(process.pid, "SIGKILL"); });`,
};

test("a file that does not load, fails in a hook or takes its process with it is run again as a whole, and counted once", () => {
  const bad = ["own", "shared"].flatMap((project) =>
    Object.entries(WHOLE).map(([name, text]): [string, string] => [
      `${project}/${name}.test.ts`,
      IMPORTS + text,
    ]),
  );
  const run = runTests({ ci: true, files: { ...Object.fromEntries(bad), "shared/good.test.ts": PASSES } });
  expect(run).toMatchObject({ status: 0, last: "17 passed, 0 failed, 3 skipped" });
  expect(run.notes.filter((note) => note.startsWith("FLAKY"))).toEqual(
    bad.map(([path]) => `FLAKY: ${path} failed, then passed alone. Its first failure:`).toSorted(),
  );
  expect(run.again).toHaveLength(bad.length);
});

test("an error that belongs to no test fails the run, and nothing is run again", () => {
  const text = `${IMPORTS} test("a", async () => { void Promise.reject(new Error("lost")); await new Promise(setImmediate); });`;
  expect(runTests({ ci: true, files: { "own/bad.test.ts": text } })).toMatchObject({
    status: 1,
    last: "1 passed, 1 failed",
    notes: ["NOT IN A TEST: Error: lost"],
    again: [],
  });
});

test("a run that cannot begin has failed", () => {
  const files = { "vitest.config.ts": "throw new Error('no');", "own/good.test.ts": PASSES };
  expect(runTests({ ci: true, files })).toMatchObject({ status: 1, last: "0 passed, 1 failed" });
  expect(runTests({ ci: true, files: {} })).toMatchObject({ status: 1, last: "0 passed, 1 failed" });
});

test("more failures than ten are not run again", () => {
  const text = (count: number) =>
    `${IMPORTS} for (let i = 0; i < ${count}; i++) test("t" + i, () => expect(isFirst("mark" + i)).toBe(false));`;
  expect(runTests({ ci: true, files: { "own/bad.test.ts": text(11) } })).toMatchObject({
    status: 1,
    last: "0 passed, 11 failed",
    again: [],
  });
});

test("what a test could not try is said above the last line, with the reason", () => {
  for (const ci of [true, false]) {
    const { lines } = runTests({ ci, files: { "own/good.test.ts": PASSES } });
    expect(lines.slice(-2)).toEqual([
      "NOT TESTED: own/good.test.ts > b: no moon",
      "1 passed, 0 failed, 1 skipped",
    ]);
  }
});

test("without CI nothing is run again, and what fails outside of a test is counted", () => {
  const group = `${IMPORTS} describe("c", () => { beforeAll(() => { throw new Error("no"); }); test("b", () => {}); });`;
  const files = { "own/flaky.test.ts": FAILS_ONCE, "shared/bad.test.ts": group };
  expect(runTests({ ci: false, files })).toMatchObject({
    status: 1,
    last: "1 passed, 2 failed, 1 skipped",
    again: [],
    notes: [],
  });
});
