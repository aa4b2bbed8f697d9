import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { chatHistoryPath } from "../config/home.ts";
import { keepEntry, MAX_ENTRY_LENGTH, readHistory } from "./chat-history.ts";
import { MAX_HISTORY } from "../terminal/editor.ts";

const asIs = Promise.resolve((text: string) => text);

function newHome() {
  const home = temporaryFolder();
  mkdirSync(join(home.path, "data"));
  return home;
}

test("what was typed is there the next time, and only its owner can read it", async () => {
  using home = newHome();
  expect(readHistory(home.path)).toEqual([]);
  await keepEntry(home.path, "one\ntwo", asIs);
  await keepEntry(home.path, "three", asIs);
  expect(readHistory(home.path)).toEqual(["one\ntwo", "three"]);
  expect(statSync(chatHistoryPath(home.path)).mode & 0o777).toBe(0o600);
});

test("secrets are not in it, and where it is not known what is one, nothing is kept", async () => {
  using home = newHome();
  await keepEntry(
    home.path,
    "my key is hunter22",
    Promise.resolve((text) => text.replaceAll("hunter22", "[KEY]")),
  );
  const unknown = Promise.reject(new Error("the configuration cannot be read"));
  await keepEntry(home.path, "again hunter22", unknown);
  expect(readHistory(home.path)).toEqual(["my key is [KEY]"]);
});

test("what is empty or very long is not kept", async () => {
  using home = newHome();
  await keepEntry(home.path, "  ", asIs);
  await keepEntry(home.path, "x".repeat(MAX_ENTRY_LENGTH + 1), asIs);
  expect(readHistory(home.path)).toEqual([]);
});

test("the file does not grow for ever, and lines that were cut off are left out", async () => {
  using home = newHome();
  const path = chatHistoryPath(home.path);
  const lines = Array.from({ length: 2 * MAX_HISTORY + 1 }, (_, at) => JSON.stringify(`line ${at}`));
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 });
  expect(readHistory(home.path)).toHaveLength(MAX_HISTORY);
  expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(MAX_HISTORY);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  appendFileSync(path, '"cut o\n12\n"whole"\n');
  expect(readHistory(home.path).slice(-2)).toEqual([`line ${2 * MAX_HISTORY}`, "whole"]);
});

test("a home that cannot be written to has no history, and nothing else is wrong with it", async () => {
  using home = temporaryFolder();
  await keepEntry(home.path, "lost", asIs);
  expect(readHistory(home.path)).toEqual([]);
});

test("a link in place of the history is neither read nor written through", async () => {
  using home = newHome();
  const elsewhere = join(home.path, "elsewhere");
  writeFileSync(elsewhere, '"theirs"\n');
  symlinkSync(elsewhere, chatHistoryPath(home.path));
  await keepEntry(home.path, "mine", asIs);
  expect(readHistory(home.path)).toEqual([]);
  expect(readFileSync(elsewhere, "utf8")).toBe('"theirs"\n');
});
