import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { KEPT_LOGS, logPath, openLog } from "./log-file.ts";

const clock = (): number => Date.UTC(2026, 0, 2);

test("each line has its time; what has more lines is one entry, and only the owner can read it", () => {
  using home = temporaryFolder();
  const path = logPath(home.path);
  const log = openLog(path, { clock });
  log("up");
  log("one\ntwo");
  expect(readFileSync(path, "utf8")).toBe(
    "2026-01-02T00:00:00.000Z up\n2026-01-02T00:00:00.000Z one\n  two\n",
  );
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a log that is full is put aside, also one of the process before, and the oldest goes", () => {
  using home = temporaryFolder();
  const path = logPath(home.path);
  for (let number = 0; number < KEPT_LOGS + 3; number++)
    openLog(path, { clock, maxBytes: 40 })(`entry ${number}`);
  const kept = readdirSync(join(home.path, "logs")).toSorted();
  expect(kept).toEqual([
    "cortex.log",
    ...Array.from({ length: KEPT_LOGS }, (_, at) => `cortex.log.${at + 1}`),
  ]);
  expect(
    kept.map((name) => /entry \d/.exec(readFileSync(join(home.path, "logs", name), "utf8"))![0]),
  ).toEqual(["entry 6", "entry 5", "entry 4", "entry 3", "entry 2"]);
});

test("a line that is longer than a file may be is kept", () => {
  using home = temporaryFolder();
  const log = openLog(logPath(home.path), { clock, maxBytes: 10 });
  log("x".repeat(100));
  expect(readFileSync(logPath(home.path), "utf8")).toContain("x".repeat(100));
});

test("where nothing can be written, nothing is", () => {
  using home = temporaryFolder();
  mkdirSync(logPath(home.path), { recursive: true });
  expect(() => openLog(logPath(home.path), { clock })("lost")).not.toThrow();
});

test("a log that is a link is not written through", () => {
  using home = temporaryFolder();
  const elsewhere = join(home.path, "elsewhere");
  writeFileSync(elsewhere, "theirs");
  mkdirSync(join(home.path, "logs"));
  symlinkSync(elsewhere, logPath(home.path));
  openLog(logPath(home.path), { clock })("ours");
  expect(readFileSync(elsewhere, "utf8")).toBe("theirs");
});
