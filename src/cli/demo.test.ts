import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { parseScript } from "../agents/offline/script.ts";
import { demo } from "./demo.ts";
import { demoEnvironment } from "./demo-home.ts";
import { demoScript, KILLED_CALL_DELAY_MS } from "./demo-script.ts";
import { typed } from "./demo-stage.ts";
import { createPrinter } from "../terminal/print.ts";

test("nothing of the user's is known in a demo", () => {
  const environment = {
    PATH: "/bin",
    HOME: "/home/ann",
    CORTEX_HOME: "/home/ann/.cortex",
    CORTEX_TEAM_DIR: "/home/ann/team",
    ANTHROPIC_API_KEY: "sk-ant",
    TZ: undefined,
  };
  expect(demoEnvironment("/tmp/demo", environment)).toEqual({
    PATH: "/bin",
    HOME: "/tmp/demo",
    CORTEX_HOME: "/tmp/demo",
  });
});

test("a demo takes no other home", async () => {
  const print = createPrinter({ json: false, quiet: true, color: false, inWords: String });
  const given = {
    home: "/home/ann",
    args: [],
    words: [],
    options: { home: "/home/ann" },
    environment: {},
    toolNames: [],
    agentFolders: async () => [],
    channelModules: new Map(),
    print,
  };
  await expect(demo(given, [])).rejects.toMatchObject({
    code: "usage",
    hint: expect.stringContaining("--keep"),
  });
});

test("what the model of a demo says is a script that can be played, hurried or not", async () => {
  for (const thinkMs of [0, 700]) {
    const script = await parseScript(demoScript({ thinkMs, receiptMs: KILLED_CALL_DELAY_MS }), "demo.yaml");
    const waits = script.flatMap(({ plays }) => plays.map(({ delayMs }) => delayMs));
    expect(new Set(waits)).toEqual(new Set([thinkMs, KILLED_CALL_DELAY_MS]));
    expect(waits.filter((ms) => ms === KILLED_CALL_DELAY_MS)).toHaveLength(1);
  }
});

test("a shell takes a command as it was meant", () => {
  const words = fc.sample(
    fc.string({ unit: "grapheme", minLength: 1 }).filter((word) => !/[\0\n]/.test(word)),
    {
      numRuns: 200,
      seed: 1,
    },
  );
  const line = typed(["send", "What's up, $HOME?", 'a "b" `c` \\d!', "", ...words]);
  const out = execFileSync("sh", ["-c", `cortex() { printf '%s\\n' "$@"; }; ${line}`], { encoding: "utf8" });
  expect(out).toBe(["send", "What's up, $HOME?", 'a "b" `c` \\d!', "", ...words, ""].join("\n"));
});
