/** What docs/relays.md, docs/relay-templates.md and docs/relay-scripts.md show, as a reader would try it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { RELAY_USAGE } from "../src/relay/surface/chat-command-syntax.ts";
import { DEFAULT_SCRIPT_TIMEOUT_MS } from "../src/relay/templates/schema.ts";
import { scriptContext } from "../src/relay/record/script-context.ts";
import { parseScriptAnswer } from "../src/relay/scripts/script-answer.ts";
import { createRelayTools } from "../src/relay/surface/tools.ts";
import { openCortex } from "../src/runtime/cortex.ts";
import { addShippedRelays } from "../src/relay/templates/shipped-files.ts";
import { MAX_OPEN_RELAYS, MAX_RELAY_DEPTH } from "../src/relay/surface/start-from-tool.ts";
import { TOOL_NAMES } from "../src/runtime/features.ts";
import { readRelays } from "../src/relay/templates/read-home.ts";
import { run, startServer } from "./support/here.ts";
import { blocksOf, commandsOf, readPage, sectionOf, wordsOf } from "./support/docs.ts";
import { writeHome } from "./support/home.ts";
import { testRecord } from "./support/relays.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { testWorkspace } from "./support/tool-context.ts";

const LONG = { timeout: 240_000 };
const relays = readPage("docs/relays.md");
const templates = readPage("docs/relay-templates.md");
const scripts = readPage("docs/relay-scripts.md");

/** The files of a page: those that say their path in a comment, and texts below a sentence that does. */
function filesOf(page: string): [path: string, content: string][] {
  const code = page.matchAll(/```(?:jsonc|js)\n\/\/ (\S+)\n(.*?)```/gs);
  const texts = page.matchAll(/`(prompts\/[^`]+)`:\n\n```text\n(.*?)```/gs);
  return [...code, ...texts].map(([, path, content]) => [path!, content!]);
}

function newHome(...pages: readonly string[]) {
  const home = temporaryFolder();
  mkdirSync(join(home.path, "config"));
  addShippedRelays(home.path);
  for (const [path, content] of pages.flatMap(filesOf)) {
    mkdirSync(dirname(join(home.path, path)), { recursive: true });
    writeFileSync(join(home.path, path), content);
  }
  return home;
}

test("the files of the pages are right, and make what the pages say", async () => {
  using home = newHome(templates, scripts);
  const config = await readRelays({ home: home.path, environment: {}, toolNames: TOOL_NAMES });
  expect({ problems: config.problems, warnings: config.warnings }).toEqual({ problems: [], warnings: [] });
  expect([...config.templates.keys()]).toEqual(
    expect.arrayContaining(["poem", "two-readers", "liked-doc", "watched"]),
  );
  expect(config.agents.get("reader")!.promptTemplate).toContain("[I LIKE IT]");
  expect(config.templates.get("liked-doc")!.agents.map(({ name }) => name)).toEqual(["doc-writer", "reader"]);
  expect(filesOf(templates)).toHaveLength(9);
});

test("the prompt that fills another one is as the page says", async () => {
  using home = newHome(templates);
  const agent = { profile: "offline", persistSession: false, promptTemplate: "file:judge-rhyme.md" };
  writeFileSync(join(home.path, "config/thread-templates/agents/judge.json"), JSON.stringify(agent));
  const { agents } = await readRelays({ home: home.path, environment: {}, toolNames: TOOL_NAMES });
  expect(agents.get("judge")!.promptTemplate!.trim()).toBe(
    [
      "Judge the poem in {{artifactPath}}.",
      "Look at the rhymes.",
      "Be strict.",
      "If you are content, append [I LIKE IT] on a line by itself.",
    ].join("\n"),
  );
});

test("every command of the pages does what it is shown for", LONG, async () => {
  using home = newHome(templates, scripts);
  mkdirSync(join(home.path, "workspaces", "lists"), { recursive: true });
  const script = "- { when: '.*', plays: [{ say: late, delayMs: 600000 }] }";
  writeHome(home.path, {
    script,
    profiles: { profiles: { slow: { backend: "offline", script: "script.yaml" } } },
  });
  await using _ = await startServer(home.path);
  const cortex = async (...words: string[]) => {
    const ended = await run(home.path, words);
    expect([words, ended.code, ended.err]).toEqual([words, 0, ended.err]);
    return ended;
  };
  await cortex("relay", "run", "doc-review", "Explain relays", "--wait");
  const { items } = JSON.parse((await cortex("relay", "list", "--json")).out) as { items: { id: string }[] };
  const things = { thr_1a2b3c4d: items[0]!.id, "~/projects/lists": join(home.path, "workspaces", "lists") };
  const steering = commandsOf(sectionOf(relays, "Steering one"));
  const others = [...commandsOf(relays), ...commandsOf(templates)].filter((line) => !steering.includes(line));
  expect(others.length).toBeGreaterThan(12);
  for (const command of others) await cortex(...wordsOf(command, { things }));

  // What steers a relay needs one in the state for it.
  expect(steering.map((command) => command.split(" ")[2])).toEqual(["say", "cancel", "resume", "add"]);
  const [say, cancel, resume, add] = steering as [string, string, string, string];
  const waiting = await cortex("relay", "run", "planner", "x", "--profile", "slow", "--json");
  const { id } = JSON.parse(waiting.out) as { id: string };
  await cortex(...wordsOf(say, { things: { thr_1a2b3c4d: id } }));
  await cortex(...wordsOf(cancel, { things: { thr_1a2b3c4d: id } }));
  const status = async () => (await run(home.path, ["relay", "status", id])).out;
  await expect.poll(status, PATIENT).toContain("is cancelled");
  writeFileSync(join(home.path, "config", "script.yaml"), "[]");
  await cortex(...wordsOf(resume, { things: { thr_1a2b3c4d: id } }));
  await cortex(...wordsOf(add, { things: { thr_1a2b3c4d: id } }), "--wait");
});

test("the script of the page counts the words", async () => {
  using home = newHome(scripts);
  const play = { calls: [{ tool: "Write", args: { path: "$1", content: "three small words" } }] };
  const script = JSON.stringify([{ when: "(/\\S+/artifact\\.md)", plays: [play, { say: "planned" }] }]);
  writeHome(home.path, { script });
  await using cortex = await openCortex({
    home: home.path,
    environment: { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` },
  });
  const { id } = await cortex.relays.run({ name: "watched", message: "plan" });
  const record = await cortex.relays.ended(id, AbortSignal.timeout(PATIENT.timeout));
  expect(record!.steps.map(({ kind, error }) => [kind, error])).toEqual([["agent", null]]);
  const report = readFileSync(join(home.path, "tmp", "reports", `${id}.txt`), "utf8");
  expect(report).toBe("3 words, no_matching_transition\n");
});

test("the table of the input of a script has every field, and no other", () => {
  const told = Object.keys(scriptContext(testRecord(), "start", ""));
  const section = sectionOf(scripts, "Input");
  expect(Array.from(section.matchAll(/^\| `(\w+)`/gm), ([, name]) => name)).toEqual(told);
  expect(scripts).toContain(`milliseconds (default: ${DEFAULT_SCRIPT_TIMEOUT_MS})`);
});

test("the answers of scripts on the page are understood", () => {
  const answers = blocksOf(scripts, "json");
  expect(answers.map((text) => parseScriptAnswer(text, ["reviewer"]).kind)).toEqual(["insert", "target"]);
});

test("the call of relay_start on the page is one, and its limits are those that hold", async () => {
  using workspace = testWorkspace();
  const [start] = createRelayTools(async () => "thr_00000000");
  const call = blocksOf(relays, "json")[0]!;
  expect(await start!.run(JSON.parse(call), workspace.context)).toMatchObject({ kind: "suspend" });
  expect(relays).toContain(`${MAX_OPEN_RELAYS} running relays`);
  expect(relays).toContain(`up to a depth of ${MAX_RELAY_DEPTH}`);
});

test("the templates of the page are those that come along, and go on as often as it says", async () => {
  using home = newHome();
  const config = await readRelays({ home: home.path, environment: {}, toolNames: TOOL_NAMES });
  const rows = Array.from(relays.matchAll(/^\| `([\w-]+)` +\| .*\((\d) times\)/gm), ([, name, times]) => [
    name,
    Number(times),
  ]);
  const known = [...config.templates.values()].map(({ name, transitions }) => {
    const edge = transitions.map(({ condition }) => condition).find(({ type }) => type === "convergence");
    return [name, edge?.type === "convergence" ? edge.maxIterations : undefined];
  });
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(known));
});

test("the commands of a chat are all on the page", () => {
  const section = sectionOf(relays, "In a chat");
  for (const line of RELAY_USAGE.split("\n")) {
    const [command] = /^!(?:thread [a-z]+|thread|cancel)/.exec(line)!;
    expect(section).toContain(`\`${command}`);
  }
});
