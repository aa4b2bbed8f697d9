import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { CortexError } from "../../model/errors.ts";
import { confinePath, MAX_TEAM_PATH_LENGTH } from "./confine.ts";

function testPlaces() {
  const folder = temporaryFolder();
  const root = join(folder.path, "team");
  mkdirSync(join(root, "agents/dev"), { recursive: true });
  mkdirSync(join(root, ".git"));
  mkdirSync(join(folder.path, "outside"));
  writeFileSync(join(folder.path, "outside/secret"), "");
  mkdirSync(join(folder.path, "team-2"));
  const link = (name: string, target: string) => symlinkSync(target, join(root, name));
  link("to-file", "../outside/secret");
  link("to-folder", "../outside");
  link("to-sibling", "../team-2");
  link("to-root", "/");
  link("dangling", "../nowhere");
  link("circle", "circle");
  link("inside", "agents");
  link("to-git", ".git");
  return { root, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

test("a path is inside, whether or not something is there", () => {
  using places = testPlaces();
  expect(confinePath(places.root, "agents/dev/tasks.md")).toEqual({
    file: join(places.root, "agents/dev/tasks.md"),
    path: "agents/dev/tasks.md",
  });
  expect(confinePath(places.root, "inside/new/note.md").path).toBe("agents/new/note.md");
});

test.each([
  ["nothing", ""],
  ["the team directory itself", "."],
  ["the parent", ".."],
  ["a way out and in again", "agents/../../team/x"],
  ["an absolute path", "/etc/passwd"],
  ["a name that is empty", "agents//dev"],
  ["a backslash", "agents\\..\\..\\x"],
  ["a NUL byte", "agents/\0"],
  ["a path that is too long", "a".repeat(MAX_TEAM_PATH_LENGTH + 1)],
  ["a link to a file outside", "to-file"],
  ["a link to a folder outside", "to-folder/new"],
  ["a link to a folder whose name begins alike", "to-sibling/x"],
  ["a link to the root", "to-root/etc/passwd"],
  ["a link to nothing", "dangling"],
  ["a link in a circle", "circle/x"],
  ["what Cortex keeps", ".cortex/journal/x"],
  ["the repository", ".git/config"],
  ["a link to the repository", "to-git/config"],
])("%s is refused", (_, path) => {
  using places = testPlaces();
  expect(() => confinePath(places.root, path)).toThrow(expect.objectContaining({ code: "path_forbidden" }));
});

test("whatever is let through is inside", () => {
  using places = testPlaces();
  const name = fc.constantFrom(
    ..."agents dev inside to-folder to-root dangling circle to-git .. . x".split(" "),
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 6 }), (names) => {
      expect(fileOf(places.root, names.join("/"))).toSatisfy(
        (file) => file === undefined || file.startsWith(places.root + sep),
      );
    }),
  );
});

/** Undefined: it is refused. */
function fileOf(root: string, path: string): string | undefined {
  try {
    return confinePath(root, path).file;
  } catch (error) {
    if (error instanceof CortexError && error.code === "path_forbidden") return undefined;
    throw error;
  }
}
