/** Relays as their owner meets them on the command line. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { start, startInTerminal } from "./support/cli.ts";
import { run, runJson, startServer } from "./support/here.ts";
import { writeHome } from "./support/home.ts";
import { SMALL_RELAYS, SMALL_SCRIPT } from "./support/small-relays.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 300_000 };

function newHome(script = SMALL_SCRIPT, relays: object = SMALL_RELAYS) {
  const home = temporaryFolder();
  const profiles = { profiles: { scripted: { backend: "offline", script: "script.yaml" } } };
  writeHome(home.path, { relays, script, profiles });
  return home;
}

/** Each agent waits for a file of its name: a step that is over soon may be told of as the one after it. */
const GATED_SCRIPT = `
- when: "(?s)WRITE (.*?) TO (\\\\S+)"
  plays:
    - calls: [{ tool: Bash, args: { command: "until [ -e ~/writer ]; do sleep 0.05; done" } }]
    - calls: [{ tool: Write, args: { path: "$2", content: "written: $1" } }]
    - { say: "I wrote $1" }
- when: "(?s)READ (.*?) IN"
  plays:
    - calls: [{ tool: Bash, args: { command: "until [ -e ~/reader ]; do sleep 0.05; done" } }]
    - { say: "I read $1" }
`;

const SCRIPTED = ["--profile", "scripted"];
const idIn = (text: string): string => /thr_[0-9a-f]{8}/.exec(text)![0];

test("templates, agents and all that is wrong with their files are told without a server", LONG, async () => {
  using home = newHome();
  const templates = await run(home.path, ["relay", "templates"]);
  expect(templates).toMatchObject({ code: 0, out: "pair  writer, reader  One writes, one reads\n", err: "" });
  expect((await run(home.path, ["relay", "agents"])).out).toBe(
    "writer  __active__  -  An agent\nreader  __active__  -  An agent\n",
  );
  expect(await run(home.path, ["relay", "validate"])).toMatchObject({
    code: 0,
    out: "1 usable template, 2 usable agents, 0 problems, 0 warnings.\n",
  });

  const condition = { type: "convergence", marker: "[OK]" };
  const { pair } = SMALL_RELAYS.templates;
  const loop = {
    ...pair,
    colour: "red",
    transitions: [...pair.transitions, { from: "reader", to: "writer", condition }],
  };
  const broken = { ...pair, agents: ["writer", "nobody"], maxTotalSteps: 0 };
  const file = { ...SMALL_RELAYS, templates: { loop, broken } };
  writeFileSync(join(home.path, "config", "thread-templates.json"), JSON.stringify(file, null, 2));
  const { code, out } = await run(home.path, ["relay", "validate"]);
  expect(code).toBe(1);
  expect(out).toMatch(/^problem thread-templates\.json:\d+:\d+ templates\.broken\.agents\[1\]: .*"nobody"/m);
  expect(out).toMatch(/^problem .*templates\.broken\.maxTotalSteps: /m);
  expect(out).toMatch(/^warning .*templates\.loop\.colour/m);
  expect(out).toContain(
    'loop\n  reader → writer: "[OK]" ends the relay; without it writer runs, at most 3 times (stop, inferred)\n',
  );
  expect(out).toMatch(/\n1 usable template, 2 usable agents, 3 problems, 2 warnings\.\n$/);
  const json = JSON.parse((await run(home.path, ["relay", "validate", "--json"])).out);
  expect(json).toMatchObject({
    templates: [{ name: "loop", convergence: [{ reading: "stop", isStated: false }] }],
    warnings: [{ path: "templates.loop.colour" }, { path: "templates.broken.agents[1]" }],
  });
  expect((await run(home.path, ["relay", "templates"])).err).toMatch(/problems in their files/);

  writeFileSync(join(home.path, "config", "thread-templates.json"), "{ broken");
  for (const what of ["templates", "agents"]) {
    const told = await run(home.path, ["relay", what]);
    expect(told.out).toBe(`No usable ${what}.\n`);
    expect(told.err).toMatch(/^1 problem in their files:\nthread-templates\.json:1:\d+ /);
  }
});

test("a relay is started, watched to its end, and looked at afterwards", LONG, async () => {
  using home = newHome();
  await using _ = await startServer(home.path);
  const watched = await run(home.path, ["relay", "run", "pair", "a", "letter", "--wait", ...SCRIPTED]);
  expect(watched).toMatchObject({ code: 0, out: "written: a letter\n" });
  const id = idIn(watched.err);
  const lines = watched.err.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^thr_\w{8} running · step 1 · writer · \$0\.0000 · /);
  expect(lines).toContainEqual(
    expect.stringMatching(/^step 1 · writer · completed · .* · I wrote a letter$/),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^step 2 · reader · completed · .* · I read a letter$/));
  expect(lines.at(-1)).toMatch(/ is completed \(no_matching_transition\): 2 steps, \$0\.0000, /);

  expect((await run(home.path, ["relay"])).out).toMatch(
    new RegExp(`^${id} .* completed +pair +2 steps +\\$0\\.0000 +a letter\n$`),
  );
  expect((await run(home.path, ["relay", "list", "--running"])).out).toBe("No relay is running.\n");
  const status = await run(home.path, ["relay", "status"]);
  expect(status.out).toMatch(
    /^thr_\w{8} is completed[^]*template +pair\nasked +a letter\n[^]*step 2 +reader/,
  );
  const shown = (await run(home.path, ["relay", "show", id])).out;
  expect(shown).toMatch(
    /asked\n {4}\[Cortex Thread Protocol\][^]*answered\n {4}I wrote a letter[^]*artifact\n {2}written: a letter\n$/,
  );
  const diff = (await run(home.path, ["relay", "show", id, "--diff"])).out;
  expect(diff).toMatch(
    /^step 1 · writer · .*\n {2}@@ .*\n {2}\+written: a letter\n[^]*step 2 · reader · .*\n {2}\(no changes\)\n$/,
  );
  expect((await run(home.path, ["relay", "show", id, "--step", "1"])).out).toBe("written: a letter\n");
  expect(await run(home.path, ["relay", "show", id, "--step", "9"])).toMatchObject({ code: 2 });
  expect(await runJson(home.path, "relay", "status", id)).toMatchObject({ id, steps: [{}, {}] });
});

test("agents work where --dir says, and a message can come from standard input", LONG, async () => {
  using home = newHome();
  await using _ = await startServer(home.path);
  const dir = join(home.path, "workspaces", "elsewhere");
  mkdirSync(dir, { recursive: true });
  writeFileSync(
    join(home.path, "config", "script.yaml"),
    `- { when: WRITE, plays: [{ calls: [{ tool: Write, args: { path: here.txt, content: here } }] }, { say: ok }] }`,
  );
  const args = ["relay", "run", "writer", "-", "--dir", dir, "--wait", "--json", ...SCRIPTED];
  const { code, out } = await run(home.path, args, "something\nlong");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    userMessage: "something\nlong",
    status: "completed",
    output: "ok",
  });
  expect(readFileSync(join(dir, "here.txt"), "utf8")).toBe("here");
});

test("a relay is cancelled, resumed, told something and continued", LONG, async () => {
  using home = newHome();
  await using _ = await startServer(home.path);
  const begun = await run(home.path, ["relay", "run", "pair", "slow", ...SCRIPTED]);
  const id = idIn(begun.out);
  expect(begun.out).toBe(`Started ${id}. \`cortex relay status ${id}\` shows its progress.\n`);
  expect((await run(home.path, ["relay", "say", id, "faster"])).out).toContain(": 1 message.");
  const watching = start(home.path, "relay", "add", id, "reader", "--wait");
  expect(await watching.ended).toMatchObject({ code: 1, err: expect.stringContaining("is running") });
  expect(await run(home.path, ["relay", "cancel", id])).toMatchObject({ code: 0 });
  await expect
    .poll(async () => (await run(home.path, ["relay", "status", id])).out, LONG)
    .toContain("is cancelled");
  expect(await run(home.path, ["relay", "cancel", id])).toMatchObject({ code: 1 });

  writeFileSync(join(home.path, "config", "script.yaml"), SMALL_SCRIPT.replace("WRITE slow", "WRITE slower"));
  const resumed = await run(home.path, ["relay", "resume", id, "--wait"]);
  expect(resumed).toMatchObject({ code: 0, out: "written: slow\n" });
  for (const verb of [
    ["say", id, "too late"],
    ["resume", id],
  ])
    expect(await run(home.path, ["relay", ...verb])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`\`cortex relay add ${id} <agent>`),
    });
  const added = await run(home.path, ["relay", "add", id, "reader", "the end", "--wait"]);
  expect(added).toMatchObject({ code: 0, err: expect.stringContaining("I read slow") });
  expect(added.err).not.toContain("I wrote slow"); // that was told before
});

test("every command prints its data as one JSON value", LONG, async () => {
  using home = newHome();
  const relay = (...args: string[]) => runJson(home.path, "relay", ...args);
  expect(await relay("templates")).toMatchObject({ items: [{ name: "pair" }], next: null });
  expect(await relay("agents")).toMatchObject({ items: [{ name: "writer" }, { name: "reader" }] });
  await using _ = await startServer(home.path);
  expect(await relay("run", "pair", "x", "--dry-run")).toMatchObject({
    template: "pair",
    steps: [{ agent: "writer" }, { agent: "reader" }],
  });
  expect(await relay("list")).toEqual({ items: [], next: null });
  const { id } = (await relay("run", "pair", "slow", ...SCRIPTED)) as { id: string };
  expect(id).toMatch(/^thr_/);
  expect(await relay("list", "--running")).toMatchObject({ items: [{ id, status: "running" }] });
  await expect.poll(() => relay("show", id), LONG).toMatchObject({ steps: [{ agentSlotId: "writer" }] });
  expect(await relay("say", id, "faster")).toEqual({ id, buffered: 1, dropped: 0, answered: null });
  expect(await relay("cancel", id)).toEqual({ id, cancelled: true });
  await expect.poll(() => relay("status", id), LONG).toMatchObject({ status: "cancelled" });

  writeFileSync(join(home.path, "config", "script.yaml"), SMALL_SCRIPT.replace("WRITE slow", "WRITE slower"));
  expect(await relay("resume", id, "--wait")).toMatchObject({ id, status: "completed" });
  expect(await relay("add", id, "reader")).toMatchObject({ id, status: "running", activeAgent: "reader" });
  await expect.poll(() => relay("status"), LONG).toMatchObject({ id, status: "completed" });
  const artifact = "written: slow";
  expect(await relay("show", id)).toMatchObject({ id, artifact, steps: { length: 4 } });
  expect(await relay("show", id, "--step", "2")).toEqual({ id, step: 2, content: artifact });
  const changed = {
    id,
    changes: [{ step: 1 }, { diff: expect.stringContaining(`+${artifact}`) }, {}, {}],
  };
  expect(await relay("show", id, "--diff")).toMatchObject(changed);

  const { turnId } = (await runJson(home.path, "send", "hello", "--wait")) as { turnId: string };
  const turn = { templateName: "default", steps: [{ executionId: turnId }] };
  for (const verb of ["status", "show"]) expect(await relay(verb, turnId)).toMatchObject(turn);
  expect((await run(home.path, ["relay", "status", turnId])).out).toMatch(
    new RegExp(`^${turnId} is completed `),
  );
  expect(await run(home.path, ["relay", "cancel", id, "--json"])).toMatchObject({ code: 1, out: "" });
});

test("what comes to no good end is told, with an exit code of 1", LONG, async () => {
  using home = newHome();
  await using _ = await startServer(home.path);
  const aborted = await run(home.path, ["relay", "run", "pair", "give up", "--wait", ...SCRIPTED]);
  expect(aborted).toMatchObject({
    code: 1,
    err: expect.stringMatching(/ is aborted: 1 step, .*\. no ink\n$/),
  });
});

test("the way that a relay takes is shown, and nothing is kept of it", LONG, async () => {
  using home = newHome();
  await using _ = await startServer(home.path);
  const { out } = await run(home.path, ["relay", "run", "pair", "x", "--dry-run"]);
  expect(out).toMatch(
    /^step 1 +writer .*\nstep 2 +reader .*\nStop reason: no_matching_transition\. Nothing was stored\.\n$/,
  );
  expect((await run(home.path, ["relay", "list"])).out).toMatch(/^No relays\./);
});

test("mistakes are told, and what needs a server says so", LONG, async () => {
  using home = newHome();
  expect(await run(home.path, ["relay", "run", "pair", "x"])).toMatchObject({
    code: 3,
    err: expect.stringContaining("cortex up"),
  });
  await using _ = await startServer(home.path);
  const failing = async (...args: string[]) => {
    const { code, err } = await run(home.path, ["relay", ...args]);
    return [code, err.split("\n")[0]];
  };
  expect(await failing("run", "nope", "x")).toEqual([1, expect.stringContaining('"nope"')]);
  expect(await failing("run", "pair")).toEqual([2, expect.stringContaining("message")]);
  expect(await failing("run", "pair", " ")).toEqual([2, "The message is empty."]);
  expect(await failing("run", "pair", "x", "--budget", "much")).toEqual([2, 'Invalid budget "much".']);
  expect(await failing("status", "thr_00000000")).toEqual([1, 'Unknown relay "thr_00000000".']);
  expect(await failing("status")).toEqual([1, "No relays yet."]);
  expect(await failing("cancel", "thr_00000000")).toEqual([1, 'Unknown relay "thr_00000000".']);
});

test("a chat takes !thread, and a line of a pipe is replied to", LONG, async () => {
  using home = newHome();
  await using _ = await startServer(home.path);
  const { out } = await run(home.path, ["chat"], "!thread templates\n!thread list\n");
  expect(out).toContain("• `pair` — One writes, one reads [agents: writer, reader]");
  expect(out).toContain("No threads found for this channel.");
  const sent = await run(home.path, ["send", "!thread pair a letter", ...SCRIPTED]);
  expect(sent.out).toMatch(/Thread `thr_\w{8}` \(pair\) started with writer/);
});

test("in a terminal, a chat follows the relays that were started in it", LONG, async ({ skip }) => {
  using home = newHome(GATED_SCRIPT);
  await using _ = await startServer(home.path);
  const chat = startInTerminal(home.path, "chat", ...SCRIPTED);
  if (chat === undefined) return skip("neither script nor python3 is here to make a terminal");
  await chat.says("Ctrl-D quits");
  chat.type("!thread pair a letter\r");
  await chat.says("step 1 · writer");
  writeFileSync(join(home.path, "writer"), "");
  await chat.says("step 2 · reader");
  writeFileSync(join(home.path, "reader"), "");
  await chat.says("written: a letter");
  await chat.says("is completed (no_matching_transition): 2 steps");
  chat.type("\u0004");
  expect((await chat.ended).code).toBe(0);
});

test("in a terminal, one line says where a relay is", LONG, async ({ skip }) => {
  using home = newHome();
  await using _ = await startServer(home.path);
  const watching = startInTerminal(home.path, "relay", "run", "pair", "slow", "--wait", ...SCRIPTED);
  if (watching === undefined) return skip("neither script nor python3 is here to make a terminal");
  await watching.says("running · step 1 · writer · $0.0000 · ");
  await watching.says("running · step 1 · writer · $0.0000 · "); // again, later
  const { items } = (await runJson(home.path, "relay", "list")) as { items: { id: string }[] };
  await run(home.path, ["relay", "cancel", items[0]!.id]);
  await watching.says("is cancelled");
  expect((await watching.ended).code).toBe(1);
});

test(
  "a list and a status count the same steps, and a script that failed is shown with what it said",
  LONG,
  async () => {
    const { pair } = SMALL_RELAYS.templates;
    const hooks = { onTransition: { command: "echo first >&2; echo oh no >&2; exit 3" } };
    using home = newHome(SMALL_SCRIPT, { ...SMALL_RELAYS, templates: { pair: { ...pair, hooks } } });
    await using _ = await startServer(home.path);
    const ran = await run(home.path, ["relay", "run", "pair", "a letter", "--wait", ...SCRIPTED]);
    expect(ran.err).toMatch(/is completed \(no_matching_transition\): 2 steps,/);
    const { out: listed } = await run(home.path, ["relay", "list"]);
    const [id] = listed.split(" ");
    expect(listed).toMatch(/ 2 steps /);
    const { out: status } = await run(home.path, ["relay", "status", id!]);
    expect(status).toMatch(/is completed \(no_matching_transition\): 2 steps,/);
    expect(status).toMatch(/^script 2 +hook-transition +failed .*Exit code 3: oh no$/m);
    expect(status).toMatch(/^step 3 +reader +completed /m);
    const after = await run(home.path, ["relay", "show", id!, "--step", "3"]);
    expect(after.out).toBe("written: a letter\n");
    for (const step of ["0", "4"])
      expect(await run(home.path, ["relay", "show", id!, "--step", step])).toMatchObject({
        code: 2,
        err: expect.stringContaining("Steps are numbered 1 to 3"),
      });
  },
);
