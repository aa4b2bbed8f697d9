import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { testWorkspace, type TestWorkspace } from "../../../test/support/tool-context.ts";
import { confine } from "./confine.ts";
import { MAX_WALK_DEPTH, walk, type Walk } from "./walk.ts";

function put(files: TestWorkspace, ...paths: readonly string[]): void {
  for (const path of paths) {
    const absolute = join(files.context.workspace, path);
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, "");
  }
}

async function paths(files: TestWorkspace, start = ".", options: Partial<Walk> = {}): Promise<string[]> {
  const found: string[] = [];
  const place = await confine(start, files.context, "read");
  for await (const { path, kind } of walk(place, { signal: files.context.signal, left: 10_000, ...options }))
    found.push(kind === "folder" ? `${path}/` : path);
  return found;
}

test("everything below a folder comes in the order of paths", async () => {
  using files = testWorkspace();
  put(files, "b.txt", "a/z", "a-b", "a.txt", "a/b/c");
  expect(await paths(files)).toEqual(["a-b", "a.txt", "a/", "a/b/", "a/b/c", "a/z", "b.txt"]);
});

test("the order of a walk is the order of paths, whatever the names are", async () => {
  const name = fc.constantFrom("a", "b", "a.b", "a-b", "a b", "A", "é", "a0");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, name, name), { maxLength: 8 }), async (files3) => {
      using files = testWorkspace();
      put(files, ...files3.map((names) => `${names.slice(0, 2).join("/")}/${names[2]}.txt`));
      const found = await paths(files);
      expect(found).toEqual(found.toSorted((a, b) => (a < b ? -1 : 1)));
    }),
    { numRuns: 20 },
  );
});

test("links are named and not followed", async () => {
  using files = testWorkspace();
  writeFileSync(join(files.outside, "secret"), "");
  symlinkSync(files.outside, join(files.context.workspace, "link"));
  symlinkSync(".", join(files.context.workspace, "self"));
  expect(await paths(files)).toEqual(["link", "self"]);
});

test(".git and node_modules are entered only when the walk begins in them", async () => {
  using files = testWorkspace();
  put(files, ".git/config", "node_modules/x/y", "src/node_modules/z");
  expect(await paths(files)).toEqual([".git/", "node_modules/", "src/", "src/node_modules/"]);
  expect(await paths(files, "node_modules")).toEqual(["x/", "x/y"]);
});

test("a walk ends at its depth, and at the depth that no walk goes beyond", async () => {
  using files = testWorkspace();
  put(files, "a/b/c", `${"d/".repeat(MAX_WALK_DEPTH + 1)}e`);
  expect(await paths(files, ".", { depth: 2 })).toEqual(["a/", "a/b/", "d/", "d/d/"]);
  expect((await paths(files, ".", { depth: 1000 })).at(-1)).toBe("d/".repeat(MAX_WALK_DEPTH));
});

test("a walk ends after as many entries as it was given", async () => {
  using files = testWorkspace();
  put(files, "a", "b", "c");
  expect(await paths(files, ".", { left: 2 })).toHaveLength(2);
});

test("a walk that is stopped says so", async () => {
  using files = testWorkspace();
  await expect(paths(files, ".", { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
});
