import * as fc from "fast-check";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";

import { configHome } from "../../test/support/config-home.ts";
import { changeVariables } from "./env-file.ts";

function open(text?: string) {
  const home = configHome();
  const path = join(home.folder, ".env");
  if (text !== undefined) writeFileSync(path, text, { mode: 0o644 });
  return {
    read: () => readFileSync(path, "utf8"),
    mode: () => statSync(path).mode & 0o777,
    change: (name: string, after: string | undefined, before?: string) =>
      changeVariables(home.path, [{ name, before, after }]),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

test("a new file can be read by its owner only, and so can one that others could read", async () => {
  using fresh = open();
  await fresh.change("TOKEN", "123:abc");
  expect([fresh.read(), fresh.mode()]).toEqual(["TOKEN=123:abc\n", 0o600]);
  using old = open("# keys\nA=1");
  await old.change("TOKEN", "123:abc");
  expect([old.read(), old.mode()]).toEqual(["# keys\nA=1\nTOKEN=123:abc\n", 0o600]);
});

test("a variable is replaced where it stands, with all its lines, and removed with them", async () => {
  using file = open("# mine\nA=1\nexport KEY='one\ntwo' # long\nB=2\n");
  await file.change("KEY", "three", "one\ntwo");
  expect(file.read()).toBe("# mine\nA=1\nKEY=three\nB=2\n");
  await file.change("KEY", undefined, "three");
  expect(file.read()).toBe("# mine\nA=1\nB=2\n");
});

test("a variable that another program has changed is not overwritten", async () => {
  using file = open("KEY=theirs\n");
  await expect(file.change("KEY", "mine", "old")).rejects.toMatchObject({ code: "state_conflict" });
  expect(file.read()).toBe("KEY=theirs\n");
});

test("of several changes, all are made or none", async () => {
  using home = configHome();
  const changes = [
    { name: "A", before: undefined, after: "1" },
    { name: "B", before: "was there", after: "2" },
  ];
  await expect(changeVariables(home.path, changes)).rejects.toMatchObject({ code: "state_conflict" });
  expect(() => statSync(join(home.folder, ".env"))).toThrow("ENOENT");
});

test("programs that add variables at the same time all succeed", async () => {
  using file = open("A=1\n");
  const names = Array.from({ length: 10 }, (_, at) => `KEY_${at}`);
  await Promise.all(names.map((name) => file.change(name, name.toLowerCase())));
  expect(parseEnv(file.read())).toEqual({
    A: "1",
    ...Object.fromEntries(names.map((name) => [name, name.toLowerCase()])),
  });
});

test("whatever a value is, it is read as it was written, or refused", async () => {
  const value = fc.string({
    unit: fc.constantFrom("a", "b", "#", "'", '"', "`", "\\", "n", "\n", " ", "$", "=", "{"),
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(value, async (written) => {
      using file = open("A='x y'\nB=2 # two\n");
      const outcome = await file.change("KEY", written).catch((error: { code: string }) => error.code);
      const expected = outcome === undefined ? { A: "x y", B: "2", KEY: written } : { A: "x y", B: "2" };
      expect(parseEnv(file.read())).toEqual(expected);
      expect([undefined, "config_invalid"]).toContain(outcome);
    }),
    { numRuns: 60 },
  );
});
