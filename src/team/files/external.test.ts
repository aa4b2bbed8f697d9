import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { externalPathOf } from "../markdown/task.ts";
import { progressOf, readExternal, whyUseless } from "./external.ts";
import { MAX_TEAM_FILE_BYTES } from "./file-state.ts";

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
  expect(external).toMatchObject({ kind: "read", done: 1, total: 3, isComplete: false });
  expect(external.kind === "read" && progressOf(external)).toBe("1 of 3 done");
});

test("it is complete when everything is done or cancelled, and not with something that is blocked", async () => {
  const cancelled = await readWith(`${DONE}## D\n**Status:** cancelled\n`);
  expect(cancelled).toMatchObject({ total: 2, isComplete: true });
  const blocked = await readWith(`${DONE}## D\n**Status:** blocked\n`);
  expect(blocked).toMatchObject({ total: 2, done: 1, isComplete: false });
  expect(blocked.kind === "read" && progressOf(blocked)).toBe("1 of 2 done, 1 blocked");
});

test("a list of checkboxes counts as well, of any kind and depth, but not in code", async () => {
  const list =
    "# Plan\r\n- [x] One\r\n  * [ ] Two\r\n1. [X] Three\r\n```\r\n- [ ] An example\r\n```\r\n- [!] Four\r\n";
  const external = await readWith(`\uFEFF${list}`);
  expect(external).toMatchObject({ done: 2, total: 4, isComplete: false });
  expect(external.kind === "read" && progressOf(external)).toBe("2 of 4 done, 1 blocked");
  expect(await readWith("- [x] One\n- [-] Not any more\n")).toMatchObject({ total: 2, isComplete: true });
});

test("a checkbox within a task is part of that task", async () => {
  const text = `- [ ] Before\n\n${DONE}- [ ] Within\n\n## Notes\n- [x] After\n`;
  expect(await readWith(text)).toMatchObject({ done: 2, total: 3, isComplete: false });
});

test("a file without tasks is not complete: its runner may just be writing it", async () => {
  expect(await readWith("")).toMatchObject({ kind: "read", total: 0, isComplete: false });
  expect(whyUseless(await readWith("# Plan\n"))).toMatch(/has no tasks or checkboxes$/);
  expect(whyUseless(await readWith(READY))).toBeUndefined();
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
  expect(await of(".")).toMatchObject({ kind: "unreadable", why: "not a file" });
  expect(await readWith(Buffer.from([0xff, 0xfe]))).toMatchObject({
    kind: "unreadable",
    why: "not UTF-8",
  });
  expect(await readWith("a".repeat(MAX_TEAM_FILE_BYTES + 1))).toMatchObject({ kind: "unreadable" });
});
