import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { findSandbox } from "../../../test/support/sandbox.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import { bashTool } from "./bash.ts";
import {
  findControlFiles,
  MAX_CONTROL_DEPTH,
  MAX_CONTROL_FILES,
  MAX_CONTROL_FOLDERS,
} from "./sandbox-control.ts";
import { guardGit } from "./sandbox-git.ts";

const sandbox = await findSandbox("that commands in the sandbox cannot change control files");

function put(root: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "old\n");
  }
}

const foldersOf = (root: string) => ({ open: [root], peoples: [join(root, "skills")] });

async function guard(root: string, isMarked = true) {
  const control = isMarked ? { workspace: root, folders: foldersOf(root) } : undefined;
  const guarded = await guardGit({ writable: [root], closed: [], readOnly: [], control });
  const modes = Object.fromEntries(
    guarded.mounts.map(({ at, words }) => [at.slice(root.length + 1), words[0]]),
  );
  return { modes, settle: () => guarded[Symbol.asyncDispose]() };
}

test("control files become read-only, and the folders above them cannot be moved", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  put(
    root,
    "AGENTS.md",
    "app/package.json",
    "app/src/x.ts",
    "skills/tea/SKILL.md",
    ".github/workflows/ci.yml",
    "node_modules/a/package.json",
  );
  const { modes, settle } = await guard(root);
  expect(modes).toMatchObject({
    "AGENTS.md": "--ro-bind",
    app: "--bind",
    "app/package.json": "--ro-bind",
    skills: "--ro-bind",
    ".github": "--bind",
    ".github/workflows": "--ro-bind",
  });
  expect(Object.keys(modes)).not.toContain("node_modules/a/package.json");
  expect(Object.keys(modes)).not.toContain("app/src");
  await settle();
  const own = await guard(root, false);
  expect(own.modes).toEqual({});
  await own.settle();
});

test("a missing identity file exists, empty, as long as a command needs it", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  const first = await guard(root);
  const second = await guard(root);
  expect(first.modes).toMatchObject({ "MEMORY.md": "--ro-bind", skills: "--ro-bind" });
  expect(second.modes).toEqual(first.modes);
  await first.settle();
  expect(readFileSync(join(root, "MEMORY.md"), "utf8")).toBe("");
  writeFileSync(join(root, "SOUL.md"), "by a person");
  await second.settle();
  expect(existsSync(join(root, "MEMORY.md"))).toBe(false);
  expect(existsSync(join(root, "skills"))).toBe(false);
  expect(readFileSync(join(root, "SOUL.md"), "utf8")).toBe("by a person");
});

test("a link that a command has replaced is put back, and what took its place is kept", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  put(root, "CLAUDE.md");
  symlinkSync("CLAUDE.md", join(root, "AGENTS.md"));
  const { settle } = await guard(root);
  rmSync(join(root, "AGENTS.md"));
  writeFileSync(join(root, "AGENTS.md"), "evil");
  await settle();
  expect(readlinkSync(join(root, "AGENTS.md"))).toBe("CLAUDE.md");
  expect(readFileSync(join(root, "AGENTS.md.proposed"), "utf8")).toBe("evil");
});

test("the search is bounded by depth, folders and files", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  const deepest = "d/".repeat(MAX_CONTROL_DEPTH);
  put(root, `${deepest}package.json`, `${deepest}d/package.json`);
  expect(await findControlFiles(root, foldersOf(root), [])).toEqual([join(root, deepest, "package.json")]);

  const many = join(root, "many");
  put(many, ...Array.from({ length: MAX_CONTROL_FILES + 1 }, (_, at) => `${at}.mk`));
  expect(await findControlFiles(many, foldersOf(many), [])).toHaveLength(MAX_CONTROL_FILES);

  const wide = join(root, "wide");
  for (let at = 0; at < MAX_CONTROL_FOLDERS; at++)
    mkdirSync(join(wide, `${at}`.padStart(5, "0")), { recursive: true });
  put(wide, "zzzzz/Makefile");
  expect(await findControlFiles(wide, foldersOf(wide), [])).toEqual([]);
});

describe.skipIf(sandbox === undefined)("in the sandbox", () => {
  test.each([
    "echo evil > AGENTS.md",
    "ln -sf x AGENTS.md",
    "rm -f AGENTS.md",
    "mv app gone",
    "echo evil > note",
    "echo evil > SOUL.md",
    "mkdir -p skills/x",
  ])("%s changes nothing of people's", async (command) => {
    using files = testWorkspace({ sandbox, agreed: [] });
    const { workspace } = files.context;
    put(workspace, "AGENTS.md", "app/package.json");
    symlinkSync("AGENTS.md", join(workspace, "note"));
    await callTool(bashTool, { command }, files.context);
    expect(readFileSync(join(workspace, "AGENTS.md"), "utf8")).toBe("old\n");
    expect(lstatSync(join(workspace, "app/package.json")).isFile()).toBe(true);
    expect(existsSync(join(workspace, "SOUL.md"))).toBe(false);
    expect(existsSync(join(workspace, "skills"))).toBe(false);
  });
});
