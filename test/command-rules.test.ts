/** What holds for every command, checked over the table of them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Command, GLOBAL_OPTIONS } from "../src/feature/command.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { environmentOf, startServer } from "./support/cli.ts";
import { runHere } from "./support/run-here.ts";
import { temporaryFolder } from "./support/temporary.ts";

type Named = readonly [path: string, entry: Command];

function commandsOf(entries: readonly Command[], path = ""): Named[] {
  return entries.flatMap((entry) => {
    const here = `${path} ${entry.usage.split(" ")[0]}`.trim();
    return [[here, entry] as const, ...commandsOf(entry.commands ?? [], here)];
  });
}

const ALL = commandsOf(COMMANDS);
const NEED_WORDS = ALL.filter(([, { usage, run }]) => run !== undefined && /<[^>]+>/.test(usage));
const PARENTS = ALL.filter(([, { commands }]) => commands !== undefined);

let home: ReturnType<typeof temporaryFolder>;
let environment: NodeJS.ProcessEnv;
const cortex = (...argv: readonly string[]) => runHere(environment, argv);

beforeAll(() => {
  home = temporaryFolder();
  environment = { ...environmentOf(home.path), CORTEX_TEAM_DIR: join(home.path, "team") };
});
afterAll(() => home[Symbol.dispose]());

describe("the table", () => {
  /** What a flag is called says what it does, so it means the same wherever it is. */
  const TAKES_VALUE: Readonly<Record<string, boolean>> = {
    "--all": false,
    "--dry-run": false,
    "--fix": false,
    "--follow": false,
    "--limit": true,
    "--profile": true,
    "--session": true,
    "--since": true,
    "--start": false,
    "--wait": false,
    "--yes": false,
  };
  const FLAGS = ALL.flatMap(([path, { options = [] }]) =>
    options.map(([flag, about]) => ({ path, flag, about })),
  );

  test("a flag that several commands have takes a value in all of them, or in none", () => {
    const known = new Map(Object.entries(TAKES_VALUE));
    for (const { path, flag } of FLAGS) {
      const [name, value] = flag.split(" ") as [string, string?];
      const takes = known.get(name) ?? value !== undefined;
      expect(`${path} ${name} ${value !== undefined}`).toBe(`${path} ${name} ${takes}`);
      known.set(name, takes);
    }
  });

  test("flags have one spelling, and none hides one that every command has", () => {
    const global = GLOBAL_OPTIONS.map(([flag]) => flag.split(" ")[0]);
    for (const { flag } of FLAGS) {
      expect(flag).toMatch(/^--[a-z]+(-[a-z]+)*( <[a-z]+>)?$/);
      expect(global).not.toContain(flag.split(" ")[0]);
    }
  });

  test("commands and flags are described by a capitalized phrase without a full stop", () => {
    for (const about of [...ALL.map(([, entry]) => entry.about), ...FLAGS.map((flag) => flag.about)])
      expect(about).toMatch(/^[A-Z].*[^.]$/);
  });

  test("the help of a command is at most eight words", () => {
    const long = ALL.filter(([, { about }]) => about.split(/\s+/).length > 8);
    expect(long.map(([path, { about }]) => `${path}: ${about}`)).toEqual([]);
  });

  test("every top-level command has a group, and no other has one", () => {
    for (const [path, { group }] of ALL)
      expect([path, group !== undefined]).toEqual([path, !path.includes(" ")]);
  });

  test("details are whole sentences", () => {
    const details = ALL.flatMap(([, command]) => command.details ?? []);
    expect(details.length).toBeGreaterThan(0);
    for (const text of details) expect(text).toMatch(/^[A-Z].*\.$/);
  });
});

test.each(ALL)("%s explains itself, with the options that every command has", async (path) => {
  const { code, out, err } = await cortex(...path.split(" "), "--help");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  for (const [flag] of GLOBAL_OPTIONS) expect(out).toContain(flag.split(" ")[0]);
});

test.each(ALL.filter(([path]) => path.includes(" ")))(
  "%s --help shows its own options and the global ones, not those of the command above it",
  async (path, { options = [] }) => {
    const { out } = await cortex(...path.split(" "), "--help");
    const shown = Array.from(out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm), ([, flag]) => flag);
    const known = [...options, ...GLOBAL_OPTIONS].map(([flag]) => flag.split(" ")[0]);
    expect(new Set(shown)).toEqual(new Set([...known, "--help"]));
    expect(shown).toHaveLength(known.length + 1);
  },
);

test("an option of the list is refused by the commands beside it, before and after their names", async () => {
  for (const argv of [
    ["relay", "cancel", "thr_4f9c2ab1", "--running"],
    ["dead", "show", "x", "--limit", "5"],
    ["relay", "--running", "cancel", "thr_4f9c2ab1"],
    ["dead", "--limit", "5", "show", "x"],
  ]) {
    const { code, err } = await cortex(...argv);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/--(running|limit)/) });
  }
  expect(await cortex("dead", "--limit", "5", "list")).not.toMatchObject({ code: 2 });
});

test.each([["staus"], ["relay", "staus"]])(
  "%s %s --help is an unknown command, with a suggestion",
  async (...words) => {
    const path = ["cortex", ...words].join(" ");
    const { code, out, err } = await cortex(...words, "--help");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`Unknown command "${words.join(" ")}"`);
    expect(err).toContain(`Did you mean \`${path.replace("staus", "status")}\`?`);
  },
);

test("an id in an example is of the kind that the command takes", () => {
  const RELAY = /^thr_[0-9a-f]{8}$/;
  const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
  for (const [path, { usage, examples = [] }] of ALL) {
    const ids = examples.flatMap((line) => line.split(" ")).filter((word) => /01K5|thr_/.test(word));
    const takesRelay = /<relay/.test(usage);
    for (const id of ids) expect([path, takesRelay ? RELAY.test(id) : !RELAY.test(id)]).toEqual([path, true]);
    const showsEvent = ids.some((id) => id.startsWith("http:") && ULID.test(id.slice(5)));
    expect([path, showsEvent]).toEqual([path, /^(hooks test|why)$/.test(path)]);
  }
});

test.each(ALL)("%s refuses an option that it does not have, in two lines and with 2", async (path) => {
  const { code, out, err } = await cortex(...path.split(" "), "--nonsense");
  expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({ code: 2, out: "", lines: 2 });
  expect(err).toContain("--nonsense");
  expect(err).toContain(`\`cortex ${path} --help\``);
});

test.each(NEED_WORDS)("%s says which word is missing, and ends with 2", async (path, { usage }) => {
  const { code, out, err } = await cortex(...path.split(" "));
  expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({ code: 2, out: "", lines: 2 });
  expect(err).toContain(/<([^>.]+)/.exec(usage)![1]);
});

test.each(PARENTS)("%s knows its commands, and no other", async (path, { commands }) => {
  const { code, err } = await cortex(...path.split(" "), "nonsense");
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining(`Unknown command "${path} nonsense"`),
  });
  const first = commands![0]!.usage.split(" ")[0]!;
  const typo = await cortex(...path.split(" "), `${first}x`);
  expect(typo.err).toContain(`Did you mean \`cortex ${path} ${first}\`?`);
});

describe("on a home in use", () => {
  /** Ends only when it is told to, makes something, or needs something that is not there. */
  const NOT_HERE =
    /^(up|chat|top|init|demo|completion|sub-agent|service|team watch|send|team init|team import|team undo|team leave|relay status|prune$)\b/;
  const READS = ALL.filter(
    ([path, { usage, run }]) => run !== undefined && !/<[^>]+>/.test(usage) && !NOT_HERE.test(path),
  ).map(([path]) => path);
  /** Of these, the home that the test makes has one. */
  const WITH_WORDS = [
    "agents show main",
    "personas show atlas",
    "search hello",
    "hooks show default-dm-routing",
    "hooks runs default-dm-routing",
    "team dispatch chief-of-staff Something",
    "show",
    "why",
    "prune --before 90d",
  ];
  let server: Awaited<ReturnType<typeof startServer>>;
  let turn: string;

  beforeAll(async () => {
    mkdirSync(join(home.path, "config"), { recursive: true });
    writeFileSync(
      join(home.path, "config", "cortex.json"),
      '{ "server": { "port": 0 }, "channels": { "webhooks": { "x": { "deliverTo": { "url": "http://127.0.0.1/secret-tool" } } } } }',
    );
    await cortex("team", "init", "--yes");
    server = await startServer(home.path, "shipped");
    turn = (JSON.parse((await cortex("send", "hello", "--wait", "--json")).out) as { turnId: string }).turnId;
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const wordsOf = (command: string): string[] =>
    command === "show" || command === "why" ? [command, turn] : command.split(" ");

  test.each([...READS, ...WITH_WORDS])(
    "%s --json prints one JSON value, and nothing else",
    async (command) => {
      const { code, out, err } = await cortex(...wordsOf(command), "--json");
      expect({ err, code: code === 78 || code === 1 ? 0 : code }).toEqual({ err: "", code: 0 });
      for (const line of out.trimEnd().split("\n")) expect(() => void JSON.parse(line)).not.toThrow();
    },
  );

  test.each([...READS, ...WITH_WORDS])(
    "%s --quiet says nothing beside it, and has no colours",
    async (command) => {
      const { out, err } = await cortex(...wordsOf(command), "--quiet", "--no-color");
      expect(err).toBe("");
      // oxlint-disable-next-line no-control-regex -- that is what is looked for
      expect(out).not.toMatch(/\x1b/);
      expect(out).not.toMatch(/\bundefined\b|\[object|NaN/);
    },
  );

  test("config says where each value comes from, the nearest first, and shows no secret", async () => {
    const name = "config/profiles.json";
    writeFileSync(
      join(home.path, name),
      '{ "profiles": { "mine": { "backend": "offline", "extraEnv": { "KEY": "sk-1" } } } }',
    );
    writeFileSync(join(home.path, "config", ".env"), "CORTEX_HOST=127.0.0.2\n");
    environment["CORTEX_PORT"] = "5001";
    const { out } = await cortex("config", "--json");
    delete environment["CORTEX_PORT"];
    const settings = JSON.parse(out) as { path: string; value: unknown; origin: string }[];
    const of = (path: string) => settings.find((setting) => setting.path === path);
    expect(of("server.port")).toMatchObject({ value: 5001, origin: "environment CORTEX_PORT" });
    expect(of("server.host")).toMatchObject({ value: "127.0.0.2", origin: ".env CORTEX_HOST" });
    expect(of("profiles.mine.backend")).toMatchObject({
      value: "offline",
      origin: expect.stringMatching(/^profiles\.json/),
    });
    expect(of("broker.maxAttempts")).toMatchObject({ origin: "default" });
    expect(of("team_dir")).toMatchObject({ origin: "environment CORTEX_TEAM_DIR" });
    expect(of("heartbeat_minutes")).toBeDefined();
    expect(out).not.toMatch(/sk-1|secret-tool/);
  });
});
