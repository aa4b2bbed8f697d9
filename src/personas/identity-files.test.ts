import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { MAX_IDENTITY_FILE_LENGTH, readIdentityFiles } from "./identity-files.ts";

test("those that say something come in a fixed order", async () => {
  using folder = temporaryFolder();
  for (const [name, text] of [
    ["MEMORY.md", "Born in May."],
    ["SOUL.md", "\nBe kind.\n"],
    ["AGENTS.md", "Use tabs."],
    ["USER.md", " \n"],
    ["OTHER.md", "Not this."],
  ] as const) {
    writeFileSync(join(folder.path, name), text);
  }
  expect(await readIdentityFiles(folder.path)).toEqual([
    { name: "AGENTS.md", text: "Use tabs." },
    { name: "SOUL.md", text: "Be kind." },
    { name: "MEMORY.md", text: "Born in May." },
  ]);
});

test("a workspace that does not exist has none", async () => {
  expect(await readIdentityFiles("/nowhere/at/all")).toEqual([]);
});

test("a file of 10 MB is cut, and it is said", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "SOUL.md");
  writeFileSync(path, "a".repeat(10 * 1024 * 1024));
  const [soul] = await readIdentityFiles(folder.path);
  expect(soul!.text).toBe(`${"a".repeat(MAX_IDENTITY_FILE_LENGTH)}\n(truncated)`);
  expect(soul!.problem).toBe(
    `SOUL.md has 10485760 bytes; only its first ${MAX_IDENTITY_FILE_LENGTH} characters are used`,
  );

  truncateSync(path, MAX_IDENTITY_FILE_LENGTH);
  expect((await readIdentityFiles(folder.path))[0]).not.toHaveProperty("problem");
});

test("what is not used is told of, and the others are read all the same", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "AGENTS.md"));
  symlinkSync("/etc/hostname", join(folder.path, "SOUL.md"));
  writeFileSync(join(folder.path, "USER.md"), "Ann");
  expect(await readIdentityFiles(folder.path)).toEqual([
    { name: "AGENTS.md", text: "", problem: "AGENTS.md is not a file" },
    {
      name: "SOUL.md",
      text: "",
      problem: expect.stringMatching(/^SOUL\.md is a symbolic link out of .* not followed$/),
    },
    { name: "USER.md", text: "Ann" },
  ]);
});
