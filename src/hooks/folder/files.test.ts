import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { scriptKindOf, parseHeader } from "./parse-header.ts";
import { addHookFile, addShippedHooks, findHookFile, hooksPath, writeNewHook } from "./files.ts";

test("a new home begins with the hooks that come with Cortex, of which one is active", () => {
  using home = temporaryFolder();
  const files = addShippedHooks(home.path);
  const active = files.filter((file) => parseHeader(readFileSync(file, "utf8")).startsDisabled !== true);

  expect(files.length).toBe(7);
  expect(active).toEqual([join(hooksPath(home.path), "default-dm-routing.ts")]);
  for (const file of files) {
    const source = readFileSync(file, "utf8");
    expect([file, scriptKindOf(source)]).toEqual([file, "hook"]);
    expect(parseHeader(source)).toMatchObject({ title: expect.any(String), description: expect.any(String) });
  }
  expect(readdirSync(home.path)).toEqual(["hooks"]);
});

test("a folder that is there is left as it is: what was deleted stays deleted", () => {
  using home = temporaryFolder();
  const [first] = addShippedHooks(home.path);
  rmSync(first!);
  expect(addShippedHooks(home.path)).toEqual([]);
  expect(readdirSync(hooksPath(home.path))).not.toContain(first);
});

test("a new hook is written with what editors need, and never over another", () => {
  using home = temporaryFolder();
  mkdirSync(hooksPath(home.path));
  const path = writeNewHook(home.path, "mine");
  expect(path).toBe(findHookFile(home.path, "mine"));
  expect(readdirSync(hooksPath(home.path)).toSorted()).toEqual(["mine.ts", "package.json", "tsconfig.json"]);
  const tsconfig = JSON.parse(readFileSync(join(hooksPath(home.path), "tsconfig.json"), "utf8"));
  const [types] = tsconfig.compilerOptions.paths["cortexd/hooks"];
  expect(readFileSync(types, "utf8")).toContain("export interface HookContext");

  writeFileSync(join(hooksPath(home.path), "other.mjs"), "");
  for (const name of ["mine", "other"]) {
    expect(() => addHookFile(home.path, name, "")).toThrow(
      expect.objectContaining({ code: "state_conflict", message: expect.stringContaining(`"${name}"`) }),
    );
  }
});

test("a name that leads elsewhere is refused", () => {
  using home = temporaryFolder();
  for (const name of ["../evil", "a/b", ".."]) {
    expect(() => addHookFile(home.path, name, "")).toThrow(expect.objectContaining({ code: "id_invalid" }));
  }
});

test("a folder that cannot be written is told of", () => {
  using home = temporaryFolder();
  writeFileSync(hooksPath(home.path), "a file");
  expect(() => writeNewHook(home.path, "mine")).toThrow(expect.objectContaining({ code: "home_unwritable" }));
});
