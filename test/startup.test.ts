/** What is loaded before a command answers, which is what a person waits for. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { execFileSync, spawn } from "node:child_process";
import { afterAll, expect, test } from "vitest";

import { layOut } from "../packaging/lay-out.ts";
import { databasePath } from "../src/config/home.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { BIN, environmentOf, watch } from "./support/cli.ts";
import { testClock } from "./support/sample.ts";
import { temporaryFolder } from "./support/temporary.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

let built: Promise<string> | undefined;

function installed(): Promise<string> {
  return (built ??= layOut(join(folder.path, "installed")));
}

/** How many files of its own a process loads. Each takes about 0.2 ms. */
const MOST_FILES = { "--help": 15, status: 25, up: 55 };

/** Prints, when the program ends, what it has loaded and made: packages, files of its own, processes, calendars. */
const WATCH = `
  import { subscribe } from "node:diagnostics_channel";
  import { registerHooks } from "node:module";
  const packages = new Set();
  let files = 0;
  let processes = 0;
  let calendars = 0;
  const construct = (target, given, made) => (calendars++, Reflect.construct(target, given, made));
  Intl.DateTimeFormat = new Proxy(Intl.DateTimeFormat, {
    construct,
    apply: (target, self, given) => construct(target, given, target),
  });
  subscribe("child_process", () => processes++);
  registerHooks({
    load(url, context, next) {
      const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? [];
      if (name !== undefined) packages.add(name);
      else if (url.startsWith("file:")) files++;
      return next(url, context);
    },
  });
  process.on("exit", () => {
    const loads = { packages: [...packages].sort(), files, processes, calendars };
    console.log("\\n" + JSON.stringify(loads));
  });
`;

test.each([
  ["in a checkout", async () => BIN],
  ["as installed", installed],
])("%s, common commands load only what they need, and start no process", async (_, program) => {
  using home = temporaryFolder();
  await makeLedger(home.path);
  const bin = await program();

  expect(loads(bin, home.path, "version")).toMatchObject({ packages: [], processes: 0 });
  expect(loads(bin, home.path, "--help")).toMatchObject({ packages: ["commander"], processes: 0 });
  const status = loads(bin, home.path, "status");
  expect(status).toMatchObject({ packages: ["better-sqlite3", "commander"], processes: 0 });
});

test("as installed, a process loads few files", async () => {
  using home = temporaryFolder();
  await makeLedger(home.path);
  const bin = await installed();

  expect(loads(bin, home.path, "--help").files).toBeLessThanOrEqual(MOST_FILES["--help"]);
  expect(loads(bin, home.path, "status").files).toBeLessThanOrEqual(MOST_FILES.status);
});

test("as installed, a server that nobody uses loads few files, no Markdown parser, and no calendar data", async () => {
  using home = temporaryFolder();
  const args = [...watching(await installed()), "up", "--port", "0"];
  const server = watch(spawn(process.execPath, args, { env: environmentOf(home.path) }));
  await server.says("Ctrl-C stops it");
  server.child.kill("SIGTERM");
  const { packages, files, calendars } = readLoads((await server.ended).out);

  expect(packages).toContain("hono");
  expect(packages).not.toContain("markdown-it");
  expect(calendars).toBe(0); // they take 8 MB
  expect(files).toBeLessThanOrEqual(MOST_FILES.up);
});

interface Loads {
  readonly packages: readonly string[];
  readonly processes: number;
  readonly files: number;
  readonly calendars: number;
}

async function makeLedger(home: string): Promise<void> {
  const path = databasePath(home);
  mkdirSync(dirname(path), { recursive: true });
  await (await openSqliteStore({ path, clock: testClock() }))[Symbol.asyncDispose]();
}

function loads(bin: string, home: string, command: string): Loads {
  const args = [...watching(bin), command];
  return readLoads(execFileSync(process.execPath, args, { env: environmentOf(home), encoding: "utf8" }));
}

function watching(bin: string): string[] {
  return ["--import", `data:text/javascript,${encodeURIComponent(WATCH)}`, bin];
}

function readLoads(out: string): Loads {
  return JSON.parse(out.trimEnd().split("\n").at(-1)!) as Loads;
}
