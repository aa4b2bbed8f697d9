import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { externalPathOf, progressOf, readExternal } from "./external.ts";
import { MAX_TEAM_FILE_BYTES } from "./file-size.ts";

const DONE = "## A\n**Status:** done\n\n";
const READY = "## B\n**Status:** ready\n\n";
const RUNNING = "## C\n**Status:** in-progress\n\n<!-- shuttle:last-tick 2026-03-28T10:15 -->\n";

async function readWith(text: string | Buffer) {
  using project = temporaryFolder();
  writeFileSync(join(project.path, ".shuttle.md"), text);
  return await readExternal({ path: ".shuttle.md", project: project.path, home: "/nowhere" });
}

test("a task stands for the file that it names, or for that of Shuttle by its title", () => {
  expect(externalPathOf({ title: "Any", external: "todo.md" })).toBe("todo.md");
  expect(externalPathOf({ title: "Execute Shuttle tasks — report status", external: undefined })).toBe(
    ".shuttle.md",
  );
  expect(externalPathOf({ title: "Execute Shuttle tasks - report status", external: undefined })).toBe(
    ".shuttle.md",
  );
  expect(externalPathOf({ title: "Execute Shuttle tasks", external: undefined })).toBeUndefined();
});

test("how far another runner is, is counted from its file", async () => {
  const external = await readWith(DONE + READY + RUNNING);
  expect(external).toMatchObject({ kind: "read", done: 1, total: 3, active: 2, isComplete: false });
  expect(external.kind === "read" && progressOf(external)).toBe("1 of 3 done");
});

test("it is complete when nothing is active any more, whatever the rest says", async () => {
  expect(await readWith(`${DONE}## D\n**Status:** cancelled\n`)).toMatchObject({
    total: 2,
    isComplete: true,
  });
});

test("a file without tasks is not complete: its runner may just be writing it", async () => {
  expect(await readWith("")).toMatchObject({ kind: "read", total: 0, isComplete: false });
});

test("paths begin in the project, at the home folder or at the root", async () => {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "project/sub"), { recursive: true });
  writeFileSync(join(home.path, "project/sub/a.md"), READY);
  for (const path of ["sub/a.md", "~/project/sub/a.md", join(home.path, "project/sub/a.md")])
    expect(await readExternal({ path, project: "~/project", home: home.path })).toMatchObject({ total: 1 });
});

test("a file that is missing or cannot be read is said to be so, and nothing is done", async () => {
  using project = temporaryFolder();
  const of = async (path: string) => readExternal({ path, project: project.path, home: "/nowhere" });
  expect(await of(".shuttle.md")).toEqual({ kind: "missing", path: join(project.path, ".shuttle.md") });
  expect(await of(".")).toMatchObject({ kind: "unreadable", why: "it is no file" });
  expect(await readWith(Buffer.from([0xff, 0xfe]))).toMatchObject({
    kind: "unreadable",
    why: "it is not in UTF-8",
  });
  expect(await readWith("a".repeat(MAX_TEAM_FILE_BYTES + 1))).toMatchObject({ kind: "unreadable" });
});
