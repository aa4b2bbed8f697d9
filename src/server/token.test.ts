import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { MIN_TOKEN_LENGTH, openToken } from "./token.ts";

const quiet = (): void => {};

test("a token of 256 random bits is made once, for its owner only", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "data", "token");
  const first = await openToken(path, quiet);
  const token = await first.read();

  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(readFileSync(path, "utf8").trim()).toBe(token);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(first.isProtected()).toBe(true);
  const second = await openToken(path, quiet);
  expect(await second.read()).toBe(token);
});

test("a token that is replaced or removed counts at once", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "token");
  const token = await openToken(path, quiet);
  const before = await token.read();
  writeFileSync(path, "x".repeat(MIN_TOKEN_LENGTH));
  expect(await token.read()).toBe("x".repeat(MIN_TOKEN_LENGTH));
  rmSync(path);
  const after = await token.read();
  expect(after).toMatch(/^[0-9a-f]{64}$/);
  expect(after).not.toBe(before);
});

test("a token that is a link is not used, wherever it leads", async () => {
  using folder = temporaryFolder();
  const [theirs, path] = [join(folder.path, "theirs"), join(folder.path, "token")];
  writeFileSync(theirs, "x".repeat(MIN_TOKEN_LENGTH));
  symlinkSync(theirs, path);
  await expect(openToken(path, quiet)).rejects.toMatchObject({ code: "file_unsafe" });
  rmSync(path);
  const token = await openToken(path, quiet);
  rmSync(path);
  symlinkSync(theirs, path);
  await expect(token.read()).rejects.toMatchObject({ code: "file_unsafe" });
});

test("a file that others could read is closed to them, and that is said", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "token");
  const token = await openToken(path, quiet);
  const value = await token.read();
  chmodSync(path, 0o644);
  const log: string[] = [];
  const opened = await openToken(path, (line) => log.push(line));

  expect(await opened.read()).toBe(value);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(log).toEqual([expect.stringContaining(`Other users could read ${path}`)]);
});

test.each([
  ["is empty", ""],
  ["is short", "x".repeat(MIN_TOKEN_LENGTH - 1)],
  ["has a space", `${"x".repeat(MIN_TOKEN_LENGTH)} x`],
  ["has two lines", `${"x".repeat(MIN_TOKEN_LENGTH)}\n${"x".repeat(MIN_TOKEN_LENGTH)}`],
])("a token that %s is refused, not replaced", async (_, text) => {
  using folder = temporaryFolder();
  const path = join(folder.path, "token");
  writeFileSync(path, text, { mode: 0o600 });
  await expect(openToken(path, quiet)).rejects.toMatchObject({ code: "token_unsafe" });
  expect(readFileSync(path, "utf8")).toBe(text);
});
