import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { testWorkspace } from "../../../test/support/tool-context.ts";
import { CortexError } from "../../model/errors.ts";
import { confine, confineEntry, type AgentFolders, isInside, MAX_PATH_LENGTH } from "./confine.ts";

test("a relative path starts in the workspace, and nothing needs to be there", async () => {
  using files = testWorkspace();
  const { workspace } = files.context;

  expect(await confine("a/../b/new.txt", files.context, "write")).toEqual({
    path: join(workspace, "b/new.txt"),
    shown: "b/new.txt",
  });
  expect(await confine(".", files.context, "read")).toEqual({ path: workspace, shown: "." });
  expect(await confine(join(workspace, "..a"), files.context, "read")).toMatchObject({ shown: "..a" });
});

test("a further root is allowed, and is shown by its whole path", async () => {
  using files = testWorkspace();
  const context = { ...files.context, roots: [files.outside] };
  const path = join(files.outside, "x");

  expect(await confine("../outside/x", context, "write")).toEqual({ path, shown: path });
});

test("kept output may be read, and is not to be written", async () => {
  using files = testWorkspace();
  const path = join(files.context.outputFolder, "turn-1-0.txt");

  expect((await confine(path, files.context, "read")).path).toBe(path);
  await expect(confine(path, files.context, "write")).rejects.toMatchObject({ code: "path_forbidden" });
});

test("the error names the path and where the agent may go", async () => {
  using files = testWorkspace();
  await expect(confine("../secret", files.context, "write")).rejects.toMatchObject({
    message: 'The path "../secret" is outside this agent\'s folders',
    hint: `Use a path inside one of ${JSON.stringify(files.context.workspace)}.`,
  });
});

test("a workspace that is itself reached by a link is a workspace", async () => {
  using files = testWorkspace();
  const link = join(files.outside, "workspace-link");
  symlinkSync(files.context.workspace, link);
  const context = { ...files.context, workspace: link };

  const place = { path: join(files.context.workspace, "a"), shown: "a" };
  expect(await confine("a", context, "write")).toEqual(place);
  expect(await confine(join(link, "a"), context, "write")).toEqual(place);
  expect(await confineEntry(".", context)).toMatchObject({ shown: "." });
});

test("a link inside the workspace leads to what it points at", async () => {
  using files = testWorkspace();
  mkdirSync(join(files.context.workspace, "real"));
  symlinkSync("real", join(files.context.workspace, "link"));

  expect(await confine("link/new", files.context, "write")).toMatchObject({ shown: "real/new" });
  expect(await confineEntry("link", files.context)).toMatchObject({ shown: "link" });
});

test.each([
  ["the parent", ".."],
  ["a sibling whose name begins alike", "../workspace-2/x"],
  ["a way out and in by another name", "a/../../outside/secret"],
  ["an absolute path", "/etc/passwd"],
  ["the root", "/"],
  ["the root by way of the process", "/proc/self/root/etc/passwd"],
  ["the folder of the process", "/proc/self/cwd/package.json"],
  ["a NUL byte", "a\0/../../outside"],
  ["a NUL byte that hides the way out", "../outside/secret\0.txt"],
  ["a link to a file outside", "to-file"],
  ["a link to a folder outside", "to-folder"],
  ["a link in the middle", "to-folder/secret"],
  ["a link in the middle, with nothing at the end", "to-folder/a/b/new"],
  ["a link to a link", "to-link/secret"],
  ["a link to the root", "to-root/etc/passwd"],
  ["a link that points nowhere, outside", "dangling"],
  ["a link that points nowhere, in the middle", "dangling/x"],
  ["a link that points nowhere, inside", "dangling-inside"],
  ["a link in a circle", "circle/x"],
  ["a path that is too long", `${"a/".repeat(MAX_PATH_LENGTH / 2)}b`],
])("%s is refused", async (_, path) => {
  using files = testWorkspace();
  plantLinks(files.context, files.outside);
  for (const access of ["read", "write"] as const) {
    await expect(confine(path, files.context, access)).rejects.toMatchObject({ code: "path_forbidden" });
  }
});

const HOSTILE_NAMES =
  ".. . a outside workspace root proc self cwd etc passwd to-file to-folder to-link to-root dangling dangling-inside circle inside up ~ ..\\.. %2e%2e ... \0 C:".split(
    " ",
  );

test("whatever path is let through is inside", async () => {
  using files = testWorkspace();
  const context = { ...files.context, roots: [join(files.outside, "root")] };
  plantLinks(context, files.outside);
  mkdirSync(join(files.outside, "root"));
  const allowed = [context.workspace, ...context.roots];
  const name = fc.oneof(
    fc.constantFrom(...HOSTILE_NAMES, context.workspace, files.outside),
    fc.string({ maxLength: 5 }),
  );
  const path = fc
    .tuple(fc.constantFrom("", "/", "./", "//", `${context.workspace}/`, `${files.outside}/`), fc.array(name))
    .map(([start, names]) => start + names.join("/"));

  await fc.assert(
    fc.asyncProperty(path, async (path) => {
      for (const find of [confine, confineEntry]) {
        const place = await find(path, context, "read").catch(requireRefusal);
        if (place === undefined || isInside(place.path, context.outputFolder)) continue;
        expect(allowed.some((folder) => isInside(place.path, folder))).toBe(true);
        const again = find === confine ? await confine(place.path, context, "read") : place;
        expect(again).toEqual(place);
      }
    }),
    { numRuns: 500 },
  );
});

function requireRefusal(error: unknown): undefined {
  expect(error).toBeInstanceOf(CortexError);
  expect(error).toMatchObject({ code: "path_forbidden" });
}

function plantLinks({ workspace }: AgentFolders, outside: string): void {
  writeFileSync(join(outside, "secret"), "secret");
  mkdirSync(join(workspace, "inside"));
  const links = {
    "to-file": join(outside, "secret"),
    "to-folder": "../outside",
    "to-link": "to-folder",
    "to-root": "/",
    dangling: join(outside, "new"),
    "dangling-inside": "new",
    circle: "circle",
    "inside/up": "..",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(workspace, name));
}

test("a root inside the workspace that is replaced by a link leads nowhere else", async () => {
  using workspace = testWorkspace();
  const root = join(workspace.context.workspace, "shared");
  const folders = { ...workspace.context, roots: [root] };
  symlinkSync(workspace.outside, root);
  await expect(confine("shared/secret", folders, "read")).rejects.toMatchObject({ code: "path_forbidden" });
  await expect(confine(join(workspace.outside, "x"), folders, "write")).rejects.toMatchObject({
    code: "path_forbidden",
  });
});

test("the home of Cortex stays closed inside an open folder, and the workspace in it is open", async () => {
  using files = testWorkspace();
  const { workspace } = files.context;
  const home = join(files.outside, "home");
  mkdirSync(join(home, "data"), { recursive: true });
  mkdirSync(join(home, "own"));
  const folders = { ...files.context, roots: [files.outside], hidden: [home] };
  await expect(confine(join(home, "data", "token"), folders, "read")).rejects.toMatchObject({
    code: "path_forbidden",
  });
  await expect(confine(home, folders, "write")).rejects.toMatchObject({ code: "path_forbidden" });
  await expect(confine(join(home, "x"), { ...folders, roots: [home] }, "write")).rejects.toMatchObject({
    code: "path_forbidden",
  });
  expect(await confine(join(files.outside, "x"), folders, "write")).toMatchObject({
    path: join(files.outside, "x"),
  });
  const inside = { ...files.context, workspace: join(home, "own"), hidden: [home] };
  expect(await confine("note", inside, "write")).toMatchObject({ path: join(home, "own", "note") });
  await expect(confine("../data/token", inside, "read")).rejects.toMatchObject({ code: "path_forbidden" });
  expect(await confine("a", { ...files.context, hidden: [home] }, "read")).toMatchObject({
    path: join(workspace, "a"),
  });
});

test("no workspace and no root opens a reserved folder, but what is readable in it is", async () => {
  using files = testWorkspace();
  const hooks = join(files.outside, "hooks");
  const inner = join(hooks, "inner");
  mkdirSync(inner, { recursive: true });
  const link = join(files.context.workspace, "link");
  symlinkSync(inner, link);
  const reserved = { ...files.context, hidden: [files.outside], reserved: [hooks] };
  for (const folders of [
    { ...reserved, roots: [hooks] },
    { ...reserved, roots: [inner, link] },
    { ...reserved, workspace: inner },
  ])
    for (const path of [join(hooks, "a"), join(inner, "a"), join(link, "a")])
      await expect(confine(path, folders, "write")).rejects.toMatchObject({ code: "path_forbidden" });
  const reading = { ...reserved, readable: [inner] };
  expect(await confine(join(inner, "a"), reading, "read")).toMatchObject({ path: join(inner, "a") });
  await expect(confine(join(inner, "a"), reading, "write")).rejects.toMatchObject({ code: "path_forbidden" });
  await expect(confine(join(hooks, "a"), reading, "read")).rejects.toMatchObject({ code: "path_forbidden" });
});
