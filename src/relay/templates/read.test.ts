import * as fc from "fast-check";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { relayHome, SEED_FILES } from "../../../test/support/relay-home.ts";
import { MAX_ENTRIES } from "../../config/schema-parts.ts";
import { convergenceReadings } from "./convergence.ts";

const FILE = "config/thread-templates.json";
const WRITER = { profile: "offline", persistSession: false, promptTemplate: "{{input}}" };
const ALWAYS = { type: "always" };
const ALONE = { agents: ["writer"], transitions: [], entryAgent: "writer", maxTotalSteps: 1 };

/** The content of the seed's file, to be changed. */
interface RelayFile {
  agents: Record<string, Record<string, unknown>>;
  templates: Record<string, Record<string, unknown>>;
}

function seedFile(): RelayFile {
  return JSON.parse(SEED_FILES[FILE] as string) as RelayFile;
}

test("the agents of the seed load unchanged", async () => {
  using home = relayHome(SEED_FILES);
  const { agents, problems, warnings } = await home.read();
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  expect(agents.get("planner")).toEqual({
    name: "planner",
    description: "Plans the research approach",
    profile: "claude-sonnet",
    persistSession: false,
    directive: "You are a research planner. Break down problems into testable hypotheses.",
    promptTemplate: "Plan: {{input}}",
    pluginDirs: ["cortex-common", "cortex-surveyor"].map((name) => join(home.folders.home, "plugins", name)),
    tools: "Agent AskUserQuestion Bash Read Grep Glob Write Edit WebSearch WebFetch Skill".split(" "),
  });
  expect(agents.get("coder")).toEqual({
    name: "coder",
    description: "",
    profile: "claude-sonnet",
    persistSession: true,
    pluginDirs: [join(home.folders.home, "plugins/cortex-coder")],
    stages: {
      implement: {
        promptTemplate: "You are implementing the plan. Write code to {{artifactPath}}.",
        description: "Write the implementation",
        continuesSession: false,
      },
      review: {
        promptTemplate: "You are reviewing the code in {{artifactPath}}. Check for correctness.",
        description: "Review the implementation",
        continuesSession: true,
      },
    },
    entryStage: "implement",
  });
});

test("the template of the seed loads unchanged", async () => {
  using home = relayHome(SEED_FILES);
  const template = (await home.read()).templates.get("coder-review");
  expect(template).toMatchObject({
    name: "coder-review",
    description: "Implement a feature then review it",
    transitions: [
      {
        from: [{ agent: "planner", stage: null }],
        to: [{ agent: "coder", stage: "implement" }],
        condition: ALWAYS,
      },
      {
        from: [{ agent: "coder", stage: "implement" }],
        to: [{ agent: "coder", stage: "review" }],
        condition: ALWAYS,
      },
      {
        from: [{ agent: "coder", stage: "review" }],
        to: [{ agent: "reviewer", stage: null }],
        condition: ALWAYS,
      },
    ],
    entryAgent: "planner",
    maxTotalSteps: 10,
    maxTotalCostUsd: 5,
    hooks: { onEnd: { command: "node hooks/post-task-hook.mjs", args: [], timeoutMs: 30_000 } },
  });
  expect(template?.agents.map(({ name }) => name)).toEqual(["planner", "coder", "reviewer"]);
  expect(template).not.toHaveProperty("entryStage");
});

test("the convergence example of the seed leads on with its marker", async () => {
  const file = seedFile();
  const transitions = file.templates["coder-review"]!["transitions"] as unknown[];
  transitions[1] = {
    from: "coder:implement",
    to: "coder:review",
    condition: { type: "convergence", marker: "[IMPLEMENTATION COMPLETE]", maxIterations: 5 },
  };
  using home = relayHome({ ...SEED_FILES, [FILE]: file });
  const { templates, problems } = await home.read();
  expect(problems).toEqual([]);
  const template = templates.get("coder-review")!;
  expect(template.transitions[1]!.condition).toEqual({
    type: "convergence",
    marker: "[IMPLEMENTATION COMPLETE]",
    maxIterations: 5,
    scope: "artifact",
  });
  expect(convergenceReadings(template)).toEqual([
    {
      transition: 1,
      reading: "advance",
      isStated: false,
      text:
        'coder:implement → coder:review: "[IMPLEMENTATION COMPLETE]" leads to coder:review; ' +
        "without it coder:implement runs again, at most 5 times in total",
    },
  ]);
});

test("a convergence edge that closes a circle ends the relay with its marker, unless it says otherwise", async () => {
  const template = (onMarker?: string): object => ({
    ...ALONE,
    agents: ["writer", "critic"],
    transitions: [
      { from: "writer", to: "critic", condition: ALWAYS },
      { from: "critic", to: "writer", condition: { type: "convergence", marker: "[APPROVED]", onMarker } },
    ],
  });
  using home = relayHome({
    [FILE]: {
      agents: { writer: WRITER, critic: WRITER },
      templates: { found: template(), stated: template("advance") },
    },
  });
  const { templates } = await home.read();
  const text = 'critic → writer: "[APPROVED]" ends the relay; without it writer runs, at most 3 times';
  expect(convergenceReadings(templates.get("found")!)).toEqual([
    { transition: 1, reading: "stop", isStated: false, text },
  ]);
  expect(convergenceReadings(templates.get("stated")!)).toMatchObject([
    { reading: "advance", isStated: true },
  ]);
});

test("override refs of the seed change an agent for one template only", async () => {
  const file = seedFile();
  file.templates["special"] = {
    ...file.templates["coder-review"],
    agents: [
      { ref: "planner" },
      { ref: "coder", promptTemplate: "file:special-coder-prompt.md", tools: "Read,Write,Edit" },
      {
        ref: "reviewer",
        persistSession: true,
        directive: "Be kind.",
        claudeAgent: "critic",
        outputStyle: "short",
        systemPrompt: "file:s.md",
        pluginDirs: [],
      },
    ],
  };
  using home = relayHome({
    ...SEED_FILES,
    [FILE]: file,
    "prompts/promptTemplates/special-coder-prompt.md": "Special.",
    "prompts/systemPrompts/s.md": "You are a system.",
  });
  const { agents, templates, problems, warnings } = await home.read();
  expect(problems).toEqual([]);
  expect(warnings.map(({ message }) => message)).toEqual(["ignored because the agent has stages"]);
  const [planner, coder, reviewer] = templates.get("special")!.agents;
  expect(planner).toEqual(agents.get("planner"));
  expect(coder).toEqual({ ...agents.get("coder"), tools: ["Read", "Write", "Edit"] });
  expect(reviewer).toEqual({
    ...agents.get("reviewer"),
    persistSession: true,
    directive: "Be kind.",
    claudeAgent: "critic",
    outputStyle: "short",
    systemPrompt: "You are a system.",
    pluginDirs: [],
  });
  expect(agents.get("reviewer")?.directive).toBeUndefined();
});

test("the folder holds the same as the single file, and wins where both are there", async () => {
  const { agents, templates } = seedFile();
  const entries = { agents, templates };
  const files = Object.entries(entries).flatMap(([kind, each]) =>
    Object.entries(each).map(([name, value]) => [`config/thread-templates/${kind}/${name}.json`, value]),
  );
  using single = relayHome(SEED_FILES);
  using folder = relayHome({
    ...SEED_FILES,
    ...Object.fromEntries(files),
    [FILE]: { agents: { other: WRITER } },
  });
  const [one, other] = await Promise.all([single.read(), folder.read()]);
  const moved = JSON.parse(
    JSON.stringify([...one.templates]).replaceAll(single.folders.home, folder.folders.home),
  ) as unknown;
  expect([...other.templates]).toEqual(moved);
  expect([...other.agents.keys()].toSorted()).toEqual([...one.agents.keys()].toSorted());
  expect(other.warnings).toEqual([
    {
      source: "thread-templates.json",
      path: "",
      message: "ignored because the folder thread-templates exists",
      hint: "Move its entries to files in the folder, or remove one of the two.",
    },
  ]);
});

test("a file of the folder that is no JSON costs only its own entry, and is told once", async () => {
  using home = relayHome({
    "config/thread-templates/agents/writer.json": WRITER,
    "config/thread-templates/agents/broken.json": "{",
    "config/thread-templates/agents/notes.txt": "not an agent",
    "config/thread-templates/agents/.hidden.json": "{",
    "config/thread-templates/agents/critic.json": { ...WRITER, profile: "gone" },
  });
  const { agents, problems } = await home.read();
  expect([...agents.keys()]).toEqual(["writer"]);
  expect(problems).toEqual([
    expect.objectContaining({ source: expect.stringMatching(/^thread-templates\/agents\/broken.json:1:/) }),
    {
      source: "thread-templates/agents/critic.json:2:14",
      path: "profile",
      message: 'unknown profile "gone"',
      hint: "Use one of __active__, claude-sonnet, claude-haiku, offline.",
    },
  ]);
});

test("without files there are no agents and no problems", async () => {
  using home = relayHome();
  expect(await home.read()).toEqual({ agents: new Map(), templates: new Map(), problems: [], warnings: [] });
});

test.each([
  ["[]", "expected an object, got a list"],
  ['{"agents": []}', "expected an object, got a list"],
  ['{"agents": {}', "invalid JSON: missing closing }"],
  ["7", "expected an object, got 7"],
])("the file %s is a problem", async (text, message) => {
  using home = relayHome({ [FILE]: text });
  const { problems } = await home.read();
  expect(problems.map((problem) => problem.message)).toEqual([message]);
});

test("a file in the place of the folder is a problem", async () => {
  using home = relayHome({ "config/thread-templates": "a file" });
  expect((await home.read()).problems).toMatchObject([
    { source: "thread-templates", message: "is not a folder" },
  ]);
});

test("the number of entries has a limit", async () => {
  const many = Object.fromEntries(
    Array.from({ length: MAX_ENTRIES + 1 }, (_, index) => [`a${index}`, WRITER]),
  );
  using home = relayHome({ [FILE]: { agents: many } });
  expect((await home.read()).problems).toMatchObject([
    { path: "agents", message: "has more than 1000 entries" },
  ]);
});

test("so does the number of files of the folder", async () => {
  const many = Array.from({ length: MAX_ENTRIES + 1 }, (_, index) => [
    `config/thread-templates/agents/a${index}.json`,
    WRITER,
  ]);
  using home = relayHome(Object.fromEntries(many));
  expect((await home.read()).problems).toMatchObject([
    { source: "thread-templates/agents", message: "has more than 1000 files" },
  ]);
});

test("a thousand mistakes are a thousand problems", async () => {
  const agents = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [
      `a${index}`,
      { ...WRITER, profile: "gone", persistSession: "yes" },
    ]),
  );
  using home = relayHome({ [FILE]: { agents } });
  expect((await home.read()).problems).toHaveLength(1_000);
});

test("a mistake in the form of an entry hides none of its others", async () => {
  const template = {
    agents: ["writer", "nobody"],
    transitions: [{ from: "writer", to: "gone", condition: { type: "sometimes" } }, 7],
    entryAgent: "absent",
    maxTotalSteps: 0,
  };
  using home = relayHome({ [FILE]: { agents: { writer: WRITER }, templates: { wrong: template } } });
  const { problems, templates } = await home.read();
  expect(templates.size).toBe(0);
  expect(problems.map(({ path }) => path).toSorted()).toEqual([
    "templates.wrong.agents[1]",
    "templates.wrong.entryAgent",
    "templates.wrong.maxTotalSteps",
    "templates.wrong.transitions[0].condition.type",
    "templates.wrong.transitions[0].to",
    "templates.wrong.transitions[1]",
  ]);
});

test("a template whose agent is wrong is not there, and the agent's problem is told once", async () => {
  using home = relayHome({
    [FILE]: { agents: { writer: { ...WRITER, profile: "gone" } }, templates: { alone: ALONE } },
  });
  const { problems, templates } = await home.read();
  expect(problems.map(({ path }) => path)).toEqual(["agents.writer.profile"]);
  expect(templates.size).toBe(0);
});

test("hooks that are disabled are left out", async () => {
  const hooks = { onStart: { command: "true" } };
  using home = relayHome({
    [FILE]: {
      agents: { writer: WRITER },
      templates: { on: { ...ALONE, hooks }, off: { ...ALONE, hooks, disableHooks: true } },
    },
  });
  const { templates } = await home.read();
  expect(templates.get("on")?.hooks).toEqual({ onStart: { command: "true", args: [], timeoutMs: 30_000 } });
  expect(templates.get("off")?.hooks).toEqual({});
});

test("fan-out and join are lists of ends", async () => {
  const template = {
    ...ALONE,
    agents: ["writer", "a", "b", "critic"],
    transitions: [
      { from: "writer", to: ["a", "b"], condition: ALWAYS },
      { from: ["a", "b"], to: "critic", condition: ALWAYS },
    ],
  };
  using home = relayHome({
    [FILE]: {
      agents: { writer: WRITER, a: WRITER, b: WRITER, critic: WRITER },
      templates: { fan: template },
    },
  });
  const { templates, problems } = await home.read();
  expect(problems).toEqual([]);
  const ends = templates.get("fan")!.transitions.map(({ from, to }) => [from, to]);
  expect(ends.map((sides) => sides.map((side) => side.map(({ agent }) => agent)))).toEqual([
    [["writer"], ["a", "b"]],
    [["a", "b"], ["critic"]],
  ]);
});

test("plugins may lie outside the home where their path is absolute or begins with ~", async () => {
  using home = relayHome({ "user/mine/": "" });
  using elsewhere = relayHome();
  home.write(FILE, { agents: { writer: { ...WRITER, pluginDirs: ["~/mine", elsewhere.folders.home] } } });
  const { agents, problems } = await home.read();
  expect(problems).toEqual([]);
  expect(agents.get("writer")?.pluginDirs).toEqual([
    join(home.folders.home, "user/mine"),
    elsewhere.folders.home,
  ]);
});

test("a folder whose name begins with two dots is in the home", async () => {
  using home = relayHome({ "..plugins/mine/": "" });
  home.write(FILE, { agents: { writer: { ...WRITER, pluginDirs: ["..plugins/mine"] } } });
  expect((await home.read()).problems).toEqual([]);
});

test("a link within the folder of prompts is followed, one that leads out is refused", async () => {
  using home = relayHome({ "secret.md": "secret", "prompts/promptTemplates/real.md": "real" });
  const folder = join(home.folders.home, "prompts/promptTemplates");
  symlinkSync("real.md", join(folder, "inside.md"));
  symlinkSync("../../secret.md", join(folder, "outside.md"));
  mkdirSync(join(home.folders.home, "far"));
  writeFileSync(join(home.folders.home, "far/away.md"), "far");
  symlinkSync("../../far", join(folder, "folder"));
  home.write(FILE, {
    agents: {
      good: { ...WRITER, promptTemplate: "file:inside.md" },
      bad: { ...WRITER, promptTemplate: "file:outside.md" },
      worse: { ...WRITER, promptTemplate: "file:folder/away.md" },
    },
  });
  const { agents, problems } = await home.read();
  expect(agents.get("good")?.promptTemplate).toBe("real");
  expect(problems.map(({ message }) => message)).toEqual([
    "prompts/promptTemplates/outside.md is a link to a file outside prompts/promptTemplates",
    "prompts/promptTemplates/folder/away.md is a link to a file outside prompts/promptTemplates",
  ]);
});

test("whatever stands in the place of a value, problems are told and nothing is thrown", async () => {
  const whole = {
    ...seedFile(),
    shells: { judge: { ...ALONE, params: ["worker"], agents: ["{worker}"], entryAgent: "{worker}" } },
  };
  whole.templates["bound"] = { shell: "judge", worker: "reviewer" };
  const places = leaves(whole);
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom("", "file:", "file:..", "__proto__", "{", "{x}", "a:b:c", "(", "{{"),
  );
  using home = relayHome(SEED_FILES);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...places), odd, async (place, value) => {
      home.write(FILE, replaced(whole, place, value));
      const { problems, warnings } = await home.read();
      const incomplete = [...problems, ...warnings].filter(
        ({ message, hint }) => message === "" || hint === "",
      );
      expect(incomplete).toEqual([]);
    }),
  );
});

/** The paths to all values within a value, itself among them. */
function leaves(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? replaced(item, rest, by) : item));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [key]: replaced(object[key], rest, by) };
}
