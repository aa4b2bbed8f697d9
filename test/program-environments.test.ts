/**
 * The programs of the owner's that Cortex starts see of its environment what every program sees, what was named for them
 * beside their command, and nothing else.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { PASSED_ON } from "../src/programs/environment.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { ended, SMALL_RELAYS } from "./support/small-relays.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { answerTo, entry, plays } from "./support/workers.ts";

const BAD_PROGRAM = fileURLToPath(new URL("fixtures/sub-agents/bad.mjs", import.meta.url));
const NAMED = ["NAMED_IN_ENVIRONMENT", "NAMED_IN_FILE", "NAMED_NOWHERE"];
/** What Cortex, a shell or Node adds. */
const TOLD =
  /^(CORTEX_HOOK_\w+|CORTEX_CALL|CLAUDE_PLUGIN_ROOT|PYTHONDONTWRITEBYTECODE|TERM|NODE_COMPILE_CACHE|NODE_EXTRA_CA_CERTS|NODE_CHANNEL_\w+|PWD|OLDPWD|SHLVL|_)$/;

interface Opened extends AsyncDisposable {
  readonly cortex: Cortex;
  readonly home: string;
  /** The names of all variables that a program had. */
  seenBy(name: string): Promise<readonly string[]>;
}

/** A Cortex with programs of all kinds, each of which writes down its environment. */
async function open(env: readonly string[]): Promise<Opened> {
  const folder = temporaryFolder();
  const home = folder.path;
  const dump = (name: string): string =>
    `env > '${join(home, name)}'.$$; mv '${join(home, name)}'.$$ '${join(home, name)}'; true`;
  const named = env.length === 0 ? {} : { env };
  writeHome(home, {
    cortex: {
      agents: { main: { pluginDirs: ["plugins/p"] } },
      hooks: named,
      toolHooks: [{ event: "before", match: "List", command: dump("tool-hook"), ...named }],
      subAgents: {
        types: {
          theirs: {
            description: "x",
            command: [process.execPath, BAD_PROGRAM, "tells its environment"],
            ...named,
          },
        },
      },
    },
    script: [
      entry("^list", undefined, plays([["List", {}]], "listed")),
      entry("^delegate", undefined, plays([["sub_agent", { type: "theirs", task: "look" }]], "done")),
      entry(".*", undefined, plays([], "ok")),
    ].join(""),
    hooks: {
      "dump.ts": `import { renameSync, writeFileSync } from "node:fs";
        export default () => {
          const path = ${JSON.stringify(join(home, "hook"))};
          const part = path + "." + process.pid;
          writeFileSync(part, Object.keys(process.env).map((name) => name + "=").join("\\n"));
          renameSync(part, path);
          return { fire: false };
        };`,
    },
    relays: {
      ...SMALL_RELAYS,
      templates: {
        pair: {
          ...SMALL_RELAYS.templates.pair,
          hooks: { onStart: { command: dump("relay-script"), ...named } },
        },
      },
    },
  });
  mkdirSync(join(home, "plugins/p/.claude-plugin"), { recursive: true });
  mkdirSync(join(home, "plugins/p/hooks"));
  writeFileSync(join(home, "plugins/p/.claude-plugin/plugin.json"), '{"name":"p"}');
  const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: dump("plugin-hook"), ...named }] }] };
  writeFileSync(join(home, "plugins/p/hooks/hooks.json"), JSON.stringify({ hooks }));
  const session = { onMessageEnd: { command: dump("session-script"), ...named } };
  writeFileSync(join(home, "config/session-hooks.json"), JSON.stringify(session));
  writeFileSync(join(home, "config/.env"), "NAMED_IN_FILE=from the file\nFILE_TOKEN=t-1234567\n");
  const cortex = await openTestCortex(
    {},
    {
      home,
      environment: {
        PATH: process.env["PATH"],
        HOME: "/home/ann",
        NAMED_IN_ENVIRONMENT: "from the environment",
        SOME_API_KEY: "sk-12345678",
        PLAIN_SETTING: "plain",
        NODE_OPTIONS: "--no-deprecation",
        LD_PRELOAD: "",
      },
    },
  );
  return {
    cortex,
    home,
    async seenBy(name) {
      const path = join(home, name);
      await expect.poll(() => existsSync(path), PATIENT).toBe(true);
      return readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => /^\w+=/.test(line))
        .map((line) => line.slice(0, line.indexOf("=")));
    },
    async [Symbol.asyncDispose]() {
      await cortex.stop();
      folder[Symbol.dispose]();
    },
  };
}

async function runAll({ cortex }: Opened): Promise<string> {
  await cortex.accept({
    adapter: "telegram",
    sourceId: "1",
    channel: "telegram",
    sender: "ada",
    place: "dm-ada",
    content: "hello",
    timestampMs: Date.now(),
  });
  await ended(cortex, await cortex.relays.run({ name: "pair", message: "x" }));
  await answerTo(cortex, (await cortex.send({ content: "list" })).item);
  const { item } = await cortex.send({ content: "delegate" });
  await answerTo(cortex, item);
  const [{ result_json: told } = { result_json: "" }] = await cortex.store.query(
    "select result_json from agent_tool_calls where tool_name = 'sub_agent'",
  );
  return String(told);
}

const PROGRAMS = ["hook", "relay-script", "tool-hook", "plugin-hook", "session-script"];

function unexpected(names: readonly string[]): string[] {
  const known = new Set(PASSED_ON);
  return names.filter((name) => !known.has(name) && !TOLD.test(name));
}

test("a program has no variable of Cortex that was not named for it", PATIENT, async () => {
  await using opened = await open([]);
  const told = await runAll(opened);
  for (const name of PROGRAMS) {
    const names = await opened.seenBy(name);
    expect([name, unexpected(names)]).toEqual([name, []]);
    expect(names).toContain("PATH");
  }
  expect(told).toContain("PATH");
  expect(told).not.toMatch(/SOME_API_KEY|FILE_TOKEN|PLAIN_SETTING|NAMED_IN/);
});

test(
  "a program has the variables that its owner named beside its command, also from config/.env",
  PATIENT,
  async () => {
    await using opened = await open(NAMED);
    const told = await runAll(opened);
    for (const name of PROGRAMS)
      expect([name, unexpected(await opened.seenBy(name)).toSorted()]).toEqual([
        name,
        name === "plugin-hook" ? [] : ["NAMED_IN_ENVIRONMENT", "NAMED_IN_FILE"],
      ]);
    expect(told).toContain("NAMED_IN_ENVIRONMENT");
    expect(told).toContain("NAMED_IN_FILE");
    expect(told).not.toMatch(/SOME_API_KEY|FILE_TOKEN|PLAIN_SETTING|NAMED_NOWHERE/);
  },
);
