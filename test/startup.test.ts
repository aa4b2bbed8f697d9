/** What is loaded before a command answers, which is what a person waits for. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

import { databasePath } from "../src/config/home.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { BIN, environmentOf } from "./support/cli.ts";
import { testClock } from "./support/sample.ts";
import { temporaryFolder } from "./support/temporary.ts";

/** Prints, when the program ends, the packages that it has loaded and how many processes it has started. */
const WATCH = `
  import { subscribe } from "node:diagnostics_channel";
  import { registerHooks } from "node:module";
  const packages = new Set();
  let processes = 0;
  subscribe("child_process", () => processes++);
  registerHooks({
    load(url, context, next) {
      const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? [];
      if (name !== undefined) packages.add(name);
      return next(url, context);
    },
  });
  process.on("exit", () => console.log("\\n" + JSON.stringify({ packages: [...packages].sort(), processes })));
`;

test("commands that are asked for often load only what they need, and start no process", async () => {
  using home = temporaryFolder();
  const path = databasePath(home.path);
  mkdirSync(dirname(path), { recursive: true });
  await (await openSqliteStore({ path, clock: testClock() }))[Symbol.asyncDispose]();

  expect(watch(home.path, "version")).toEqual({ packages: [], processes: 0 });
  expect(watch(home.path, "--help")).toEqual({ packages: ["commander"], processes: 0 });
  expect(watch(home.path, "status")).toEqual({ packages: ["better-sqlite3", "commander"], processes: 0 });
});

function watch(home: string, command: string): unknown {
  const args = ["--import", `data:text/javascript,${encodeURIComponent(WATCH)}`, BIN, command];
  const out = execFileSync(process.execPath, args, { env: environmentOf(home), encoding: "utf8" });
  return JSON.parse(out.trimEnd().split("\n").at(-1)!);
}
