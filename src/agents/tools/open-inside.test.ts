import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

import { makePipe, testWorkspace, type TestWorkspace } from "../../../test/support/tool-context.ts";
import { confine } from "./confine.ts";
import { openOrMakeFolder, openFile, openFolder } from "./open-inside.ts";
import { replaceFile } from "./replace-file.ts";

/** What a process of the agent does between our look at a path and its use. */
function swapForLink(files: TestWorkspace, name: string): void {
  renameSync(join(files.context.workspace, name), join(files.context.workspace, `${name}-before`));
  symlinkSync(files.outside, join(files.context.workspace, name));
}

test("a folder that becomes a link after it was allowed gives no file of the folder it points at", async () => {
  using files = testWorkspace();
  mkdirSync(join(files.context.workspace, "folder"));
  writeFileSync(join(files.context.workspace, "folder/secret"), "harmless");
  writeFileSync(join(files.outside, "secret"), "secret");
  const place = await confine("folder/secret", files.context, "read");
  swapForLink(files, "folder");

  await expect(openFile(place)).rejects.toMatchObject({ code: "path_forbidden" });
});

test("a file that becomes a link after it was allowed is not followed", async () => {
  using files = testWorkspace();
  writeFileSync(join(files.outside, "secret"), "secret");
  const place = await confine("file", files.context, "read");
  symlinkSync(join(files.outside, "secret"), place.path);

  await expect(openFile(place)).rejects.toMatchObject({ code: "tool_failed" });
});

test("a folder that becomes a link after it was allowed is neither listed nor written to", async () => {
  using files = testWorkspace();
  mkdirSync(join(files.context.workspace, "folder/sub"), { recursive: true });
  mkdirSync(join(files.outside, "sub"));
  const folder = await confine("folder/sub", files.context, "read");
  const file = await confine("folder/sub/new/file", files.context, "write");
  swapForLink(files, "folder");

  await expect(openFolder(folder)).rejects.toMatchObject({ code: "path_forbidden" });
  await expect(replaceFile(file, Buffer.from("x"), files.context)).rejects.toMatchObject({
    code: "path_forbidden",
  });
  expect(existsSync(join(files.outside, "sub/new"))).toBe(false);
});

test.runIf(process.platform === "linux")(
  "an open folder stays the same whatever its path leads to",
  async () => {
    using files = testWorkspace();
    mkdirSync(join(files.context.workspace, "folder"));
    writeFileSync(join(files.context.workspace, "folder/mine"), "");
    writeFileSync(join(files.outside, "theirs"), "");
    await using folder = await openFolder(await confine("folder", files.context, "read"));
    swapForLink(files, "folder");

    expect(await readdir(folder.at())).toEqual(["mine"]);
  },
);

test("folders that are missing are made, all of them", async () => {
  using files = testWorkspace();
  await using folder = await openOrMakeFolder(await confine("a/b/c", files.context, "write"), "file");

  writeFileSync(folder.at("file"), "x");
  expect(existsSync(join(files.context.workspace, "a/b/c/file"))).toBe(true);
});

test("what is no file is refused at once, though nobody writes into the pipe", async () => {
  using files = testWorkspace({ roots: ["/dev"] });
  const { workspace } = files.context;
  makePipe(join(workspace, "pipe"));
  const server = createServer().listen(join(workspace, "socket"));
  await once(server, "listening");
  try {
    for (const path of ["pipe", "socket", "/dev/zero", "."]) {
      const place = await confine(path, files.context, "read");
      await expect(openFile(place)).rejects.toMatchObject({ code: "tool_failed" });
    }
  } finally {
    server.close();
  }
});
