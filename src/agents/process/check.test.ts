import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { CHECK_LIMITS, checkProtocol, type CheckResult } from "./check.ts";

const PATIENT_MS = 120_000;
const environment = { PATH: process.env["PATH"]!, HOME: process.env["HOME"] ?? "/" };
const NAMES = [
  "ready",
  "done",
  "chunks",
  "pieces",
  "large",
  "unknown",
  "ping",
  "tools",
  "message",
  "cancel",
  "stdin",
  "sigterm",
  "stdout",
  "processes",
];

/** A sub-agent that does all it should. What a test gives it to say otherwise comes before it begins to listen. */
function program(fault: string): string {
  return `
    import { spawn } from "node:child_process";
    import { createInterface } from "node:readline";
    const say = (message) => void process.stdout.write(JSON.stringify(message) + "\\n");
    const result = { success: true, response: "", tokensIn: 1, tokensOut: 2, costUsd: null, durationMs: 3 };
    const finish = (response) => {
      say({ type: "chunk", delta: response });
      say({ type: "done", result: { ...result, response } });
    };
    const ready = { type: "ready", version: 2 };
    const on = {
      ping: () => say({ type: "pong" }),
      cancel: () => process.exit(),
      init: ({ agentConfig: { tools } }) =>
        tools.length === 0 ? finish("hello") : say({ type: "tool_request", id: "1", name: tools[0].name, arguments: {} }),
      tool_result: ({ text }) => finish("It gave " + text),
    };
    let onEnd = () => process.exit();
    ${fault}
    createInterface(process.stdin)
      .on("line", (line) => on[JSON.parse(line).type]?.(JSON.parse(line)))
      .on("close", () => onEnd());
    if (ready !== undefined) say(ready);`;
}

async function check(source: string, limits = {}): Promise<CheckResult[]> {
  using folder = temporaryFolder();
  const file = join(folder.path, "program.mjs");
  writeFileSync(file, source);
  return await checkProtocol({ command: [process.execPath, file], environment, limits });
}

const inState = (results: readonly CheckResult[], state: CheckResult["state"]): string[] =>
  results.filter((result) => result.state === state).map(({ name }) => name);

test(
  "a program that does all it should passes every check, each told as soon as it is known",
  async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "program.mjs");
    writeFileSync(file, program(""));
    const told: CheckResult[] = [];
    const command = [process.execPath, file];
    const results = await checkProtocol({ command, environment, onResult: (result) => told.push(result) });
    expect(results.map(({ name, state, got }) => [name, state, got])).toEqual(
      NAMES.map((name) => [name, "ok", null]),
    );
    expect(told).toEqual(results);
  },
  PATIENT_MS,
);

/** What is wrong, which checks find it, and what they say of it. */
const FAULTS: readonly (readonly [what: string, fault: string, found: readonly string[], got: RegExp])[] = [
  ["says something before ready", 'console.log("Starting…");', ["ready"], /"Starting…" first/],
  [
    "ends at once",
    'console.error("no licence"); process.exit(7);',
    ["ready"],
    /exited with code 7.*no licence/,
  ],
  ["has a strange version", 'ready.version = "two";', ["ready"], /"two"/],
  [
    "reports the wrong types",
    'result.tokensIn = "many"; delete result.costUsd;',
    ["done"],
    /tokensIn "many", no costUsd/,
  ],
  ["answers nothing", 'on.init = () => finish(" ");', ["done"], /response " "/],
  [
    "does not succeed",
    'result.success = false; result.error = "tired";',
    ["done", "chunks", "pieces", "large", "unknown", "ping", "tools", "message"],
    /tired/,
  ],
  [
    "fails",
    'on.init = () => say({ type: "error", error: "no model" });',
    ["done", "chunks", "pieces", "large", "unknown", "ping", "tools", "message"],
    /no model/,
  ],
  [
    "goes on after done",
    'const end = finish; on.tool_result = on.init = () => { end("x"); say({ type: "chunk", delta: "!" }); };',
    ["chunks"],
    /"!".* after done/,
  ],
  [
    "answers for another",
    'on.init = () => say({ type: "done", id: "other", result });',
    ["done", "chunks", "pieces", "large", "unknown", "ping", "tools", "message"],
    /"other"/,
  ],
  [
    "prints its log",
    'const init = on.init; on.init = (line) => { console.log("thinking about it"); init(line); };',
    ["stdout"],
    /thinking about it/,
  ],
  [
    "sends half a line at the end",
    'onEnd = () => { process.stdout.write("half"); process.exitCode = 0; };',
    ["stdout"],
    /"half\\?" without a line feed/,
  ],
  [
    "dies of what it does not know",
    "const { init } = on; on.weather = () => process.exit(1);",
    ["unknown"],
    /exited with code 1/,
  ],
  ["has no pong", "delete on.ping;", ["ping"], /pong did not come in time/],
  [
    "does not use what a tool gave",
    'on.tool_result = () => finish("I would not know");',
    ["tools"],
    /I would not know/,
  ],
  [
    "asks without an id",
    'const asks = on.init; on.init = (line) => line.agentConfig.tools.length === 0 ? asks(line) : say({ type: "tool_request", name: "x", arguments: {} });',
    ["ping", "tools", "message"],
    /unique id/,
  ],
  [
    "breaks off when it is spoken to",
    "on.message = () => process.exit(2);",
    ["message"],
    /exited with code 2/,
  ],
  ["ignores cancel", "delete on.cancel;", ["cancel"], /it keeps working/],
  [
    "outlives its input",
    "onEnd = () => {}; setInterval(() => {}, 1000);",
    ["done", "stdin"],
    /it keeps running|kept running after/,
  ],
  ["ignores SIGTERM", 'process.on("SIGTERM", () => {});', ["sigterm"], /it keeps running/],
  [
    "leaves a process behind",
    'on.cancel = () => { spawn("sleep", ["600"], { stdio: "ignore" }); process.exit(); };',
    ["processes"],
    /cancel/,
  ],
];

describe.concurrent.each(FAULTS)("of a program that %s", (_, fault, found, got) => {
  test(`what is found is ${found.join(", ")}`, { timeout: PATIENT_MS }, async ({ expect }) => {
    const results = await check(program(fault), { endMs: 3_000, answerMs: 20_000 });
    expect(inState(results, "failed")).toEqual(found);
    expect(results.find(({ state }) => state === "failed")!.got).toMatch(got);
    if (found.includes("ready")) expect(inState(results, "skipped")).toEqual(NAMES.slice(1));
  });
});

test(
  "a program that reads its input once is found by what comes in pieces, and by what is large",
  async () => {
    const once = `
    const say = (message) => void process.stdout.write(JSON.stringify(message) + "\\n");
    process.stdin.once("data", (data) => {
      JSON.parse(data);
      say({ type: "done", result: { success: true, response: "", tokensIn: 0, tokensOut: 0, costUsd: 0, durationMs: 0 } });
    }).on("end", () => process.exit());
    say({ type: "ready" });`;
    const results = await check(once);
    expect(inState(results, "failed")).toEqual(expect.arrayContaining(["pieces", "large"]));
  },
  PATIENT_MS,
);

test(
  "of one that speaks version 1, what only version 2 has is skipped, and so is a tool that none asks for",
  async () => {
    const first = await check(program('delete ready.version; on.init = () => finish("hello");'));
    expect([inState(first, "failed"), inState(first, "skipped")]).toEqual([
      [],
      ["ping", "tools", "message", "cancel"],
    ]);
    const toolless = await check(
      program("result.response = 'hello'; on.init = () => say({ type: 'done', result });"),
    );
    expect([inState(toolless, "failed"), inState(toolless, "skipped")]).toEqual([
      [],
      ["chunks", "ping", "tools", "message"],
    ]);
  },
  PATIENT_MS,
);

test(
  "one that says nothing, and one that is not there, have failed the first check",
  async () => {
    const silent = await check("setInterval(() => {}, 1000);", { readyMs: 200 });
    expect(silent[0]).toMatchObject({ state: "failed", got: "ready did not come in time" });
    const absent = await checkProtocol({ command: ["/nowhere/at-all"], environment });
    expect(absent[0]).toMatchObject({ state: "failed", got: expect.stringContaining("cannot be started") });
    expect(absent[0]!.expected).toContain(`within ${CHECK_LIMITS.readyMs / 1_000} s`);
  },
  PATIENT_MS,
);

const hasPython = spawnSync("python3", ["--version"]).status === 0;
test.skipIf(!hasPython)(
  `the example in Python passes every check${hasPython ? "" : ": SKIPPED, THERE IS NO python3 HERE"}`,
  async () => {
    const file = fileURLToPath(new URL("../../../docs/examples/sub-agent.py", import.meta.url));
    const results = await checkProtocol({ command: ["python3", file], environment });
    expect(results.length).toBeGreaterThan(3);
    expect(results.filter(({ state }) => state !== "ok")).toEqual([]);
  },
  PATIENT_MS,
);
