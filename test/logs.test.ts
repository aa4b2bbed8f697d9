/** `cortex logs` from outside. */
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";

import { logPath } from "../src/client/log-file.ts";
import { run, runJson, start, startServer } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 300_000 };
const at = (second: number): string => new Date(Date.UTC(2026, 2, 1, 12, 0, second)).toISOString();

test("what a server says is there afterwards, with its time", LONG, async () => {
  using home = temporaryFolder();
  expect(await run(home.path, ["logs"])).toMatchObject({
    code: 0,
    out: expect.stringContaining("The log is empty"),
  });
  {
    await using _ = await startServer(home.path);
  }
  expect(await runJson(home.path, "logs")).toMatchObject({
    items: [
      { at: expect.stringMatching(/Z$/), text: expect.stringMatching(/^Cortex \S+ is up at http/) },
      { text: expect.stringContaining("is stopping") },
    ],
    next: null,
  });
});

test("the last entries are told, of the log before too, and those of several lines whole", async () => {
  using home = temporaryFolder();
  const path = logPath(home.path);
  mkdirSync(dirname(path));
  writeFileSync(`${path}.1`, `${at(1)} first\n${at(2)} second\n`);
  writeFileSync(path, `${at(3)} third\n  with more\n${at(4)} not whole`);
  expect((await run(home.path, ["logs", "--limit", "2"])).out).toBe(
    "2026-03-01 12:00:02  second\n2026-03-01 12:00:03  third\n  with more\n",
  );
});

test("what comes is followed over the end of a file", LONG, async () => {
  using home = temporaryFolder();
  const path = logPath(home.path);
  mkdirSync(dirname(path));
  writeFileSync(path, `${at(1)} first\n`);
  const following = start(home.path, "logs", "--follow", "--json");
  await following.says('"text":"first"');
  appendFileSync(path, `${at(2)} second\n`);
  await following.says('"text":"second"');
  appendFileSync(path, `${at(3)} third\n`);
  renameSync(path, `${path}.1`);
  writeFileSync(path, `${at(4)} fourth\n`);
  await following.says('"text":"fourth"');
  following.child.kill("SIGINT");
  const { out } = await following.ended;
  expect(Array.from(out.matchAll(/"text":"(\w+)"/g), ([, text]) => text)).toEqual([
    "first",
    "second",
    "third",
    "fourth",
  ]);
});

test("what was told of a log that was put aside is not told again with the next one", LONG, async () => {
  using home = temporaryFolder();
  const path = logPath(home.path);
  mkdirSync(dirname(path));
  writeFileSync(`${path}.1`, `${at(1)} first\n`);
  const following = start(home.path, "logs", "--follow", "--json");
  await following.says('"text":"first"');
  writeFileSync(path, `${at(2)} second\n`);
  await following.says('"text":"second"');
  following.child.kill("SIGINT");
  expect((await following.ended).out.match(/first/g)).toHaveLength(1);
});
