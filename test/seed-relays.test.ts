/**
 * The examples of the document of the thread system, as they stand there, completed by what they leave out: the agents that
 * are named and not shown, and the files that are referred to. And its commands, as people write them in a chat.
 */
import { expect, test } from "vitest";

import { relayView } from "../src/relay/surface/views.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { type RelayHome, relayHome } from "./support/relay-home.ts";
import { ended } from "./support/small-relays.ts";
import { entry, plays } from "./support/workers.ts";

const PLANNER = `{
  "agents": {
    "planner": {
      "description": "Plans the research approach",
      "profile": "claude-sonnet",
      "persistSession": false,
      "directive": "You are a research planner. Break down problems into testable hypotheses.",
      "promptTemplate": "file:planner-prompt.md",
      "pluginDirs": ["plugins/cortex-common", "plugins/cortex-surveyor"],
      "tools": "Agent,AskUserQuestion,Bash,Read,Grep,Glob,Write,Edit,WebSearch,WebFetch,Skill"
    }
  }
}`;

const CODER = `{
  "coder": {
    "profile": "claude-sonnet",
    "persistSession": true,
    "pluginDirs": ["plugins/cortex-coder"],
    "stages": {
      "implement": {
        "promptTemplate": "You are implementing the plan. Write code to {{artifactPath}}.",
        "description": "Write the implementation"
      },
      "review": {
        "promptTemplate": "You are reviewing the code in {{artifactPath}}. Check for correctness.",
        "continuesSession": true,
        "description": "Review the implementation"
      }
    },
    "entryStage": "implement"
  }
}`;

const TEMPLATES = `{
  "templates": {
    "coder-review": {
      "description": "Implement a feature then review it",
      "agents": ["planner", "coder", "reviewer"],
      "transitions": [
        {"from": "planner", "to": "coder:implement", "condition": {"type": "always"}},
        {"from": "coder:implement", "to": "coder:review", "condition": {"type": "always"}},
        {"from": "coder:review", "to": "reviewer", "condition": {"type": "always"}}
      ],
      "entryAgent": "planner",
      "maxTotalSteps": 10,
      "maxTotalCostUsd": 5.00,
      "hooks": {
        "onEnd": {
          "command": "node hooks/post-task-hook.mjs",
          "timeout": 30000
        }
      }
    }
  }
}`;

const REFERENCES = `// Simple reference — use agent as defined
"agents": ["planner", "reviewer"]
`;

const OVERRIDES = `// With overrides — customize the agent for this template
"agents": [
  {"ref": "planner"},
  {"ref": "coder", "promptTemplate": "file:special-coder-prompt.md", "tools": "Read,Write,Edit"}
]
`;

const CONVERGENCE = `{
  "from": "coder:implement",
  "to": "coder:review",
  "condition": {
    "type": "convergence",
    "marker": "[IMPLEMENTATION COMPLETE]",
    "maxIterations": 5
  }
}`;

const HOOKS = `{
  "onEnd": {
    "command": "node hooks/post-task-hook.mjs",
    "args": ["--project", "flywheel"],
    "timeout": 30000
  }
}`;

const INSERT = `{
  "insertAgent": true,
  "prompt": "Run post-task cleanup: verify all tests pass",
  "profile": "claude-haiku",
  "directive": "You are a cleanup agent"
}`;

const TARGET = `{
  "targetAgent": "reviewer",
  "prompt": "Double-check the results in the artifact against the original requirements"
}`;

/** What stands between the outermost braces. */
function inner(block: string): string {
  return block.slice(block.indexOf("{") + 1, block.lastIndexOf("}"));
}

const agent = (promptTemplate: string, persistSession = false): string =>
  JSON.stringify({ profile: "claude-sonnet", persistSession, promptTemplate });

const FILE = `{
  "agents": {
    ${inner(inner(PLANNER))},
    ${inner(CODER)},
    "reviewer": ${agent("Look through {{artifactPath}}.", true)},
    "critic": ${agent("Criticise: {{input}}")},
    "researcher": ${agent("Research: {{input}}")}
  },
  "templates": {
    ${inner(inner(TEMPLATES))},
    "referring": {
      ${REFERENCES},
      "transitions": [{"from": "planner", "to": "reviewer", "condition": {"type": "always"}}],
      "entryAgent": "planner",
      "maxTotalSteps": 2
    },
    "overriding": {
      ${OVERRIDES},
      "transitions": [{"from": "planner", "to": "coder", "condition": {"type": "always"}}, ${CONVERGENCE}],
      "entryAgent": "planner",
      "maxTotalSteps": 10,
      "hooks": ${HOOKS}
    }
  }
}`;

/** Prints an answer that depends on the arguments of the script. */
const POST_TASK = `
const answer = process.argv[2] === "--project" ? ${INSERT} : ${TARGET};
console.log(JSON.stringify(answer));`;

const offline = { backend: "offline", script: "script.yaml" };
const SCRIPT = [
  entry("Plan: ", "planner", plays([], "the plan")),
  entry("You are implementing", "coder", plays([], "implemented")),
  entry("You are reviewing", "coder", plays([], "looked at")),
  entry("Double-check", "reviewer", plays([], "checked twice")),
  entry("Look through", "reviewer", plays([], "fine")),
  entry("Criticise", "critic", plays([], "not safe")),
  entry("Research: slow", "researcher", `[{ say: late, delayMs: 600000 }]`),
  entry("Research: ", "researcher", plays([], "found")),
  entry("post-task cleanup", undefined, plays([], "clean")),
];

function seedHome(): RelayHome {
  const home = relayHome({
    "config/thread-templates.json": FILE,
    "prompts/promptTemplates/planner-prompt.md": "Plan: {{input}}",
    "prompts/promptTemplates/special-coder-prompt.md": "Special.",
    "plugins/cortex-common/": "",
    "plugins/cortex-surveyor/": "",
    "plugins/cortex-coder/": "",
    "hooks/post-task-hook.mjs": POST_TASK,
  });
  writeHome(home.folders.home, {
    script: SCRIPT.join(""),
    profiles: {
      defaultProfile: "claude-sonnet",
      profiles: { "claude-sonnet": offline, "claude-haiku": offline },
    },
  });
  return home;
}

async function write(cortex: Cortex, content: string): Promise<string> {
  const said = await cortex.say({ content });
  if (said.kind !== "command") throw new Error("It was taken for a message");
  return said.reply;
}

function idIn(reply: string): { readonly id: string } {
  return { id: /thr_[0-9a-f]{8}/.exec(reply)![0] };
}

const AGENTS = ["planner", "coder", "reviewer", "critic", "researcher"];

test("the examples load as they are written", async () => {
  using home = seedHome();
  const { agents, templates, problems, warnings } = await home.read();
  expect(problems).toEqual([]);
  expect(warnings.map(({ path, message }) => [path, message])).toEqual([
    ["templates.overriding.agents[1].promptTemplate", "ignored because the agent has stages"],
  ]);
  expect([...agents.keys()]).toEqual(AGENTS);
  expect([...templates.keys()]).toEqual(["coder-review", "referring", "overriding"]);
  expect(templates.get("overriding")).toMatchObject({
    agents: [{ name: "planner" }, { name: "coder", tools: ["Read", "Write", "Edit"] }],
    transitions: [
      {},
      { condition: { type: "convergence", marker: "[IMPLEMENTATION COMPLETE]", maxIterations: 5 } },
    ],
    hooks: { onEnd: { args: ["--project", "flywheel"], timeoutMs: 30_000 } },
  });
});

test("every command of a chat does what the document says", async () => {
  using home = seedHome();
  await using cortex = await openTestCortex({}, { home: home.folders.home });
  const templates = await write(cortex, "!thread templates");
  expect(templates).toContain(
    "• `coder-review` — Implement a feature then review it [agents: planner, coder, reviewer]",
  );
  const agents = await write(cortex, "!thread agents");
  expect(agents).toContain("• `planner` (claude-sonnet) — Plans the research approach");
  for (const name of AGENTS) expect(agents).toContain(`• \`${name}\` (claude-sonnet)`);

  const { id } = idIn(await write(cortex, "!thread coder-review Implement user authentication for the API"));
  const record = await ended(cortex, { id });
  expect(record.steps.map(({ agentSlotId, stage, output }) => [agentSlotId, stage, output])).toEqual([
    ["planner", null, "the plan"],
    ["coder", "implement", "implemented"],
    ["coder", "review", "looked at"],
    ["reviewer", null, "fine"],
    ["reviewer", null, "checked twice"],
  ]);
  expect(record.steps[0]!.input).toMatch(/Plan: Implement user authentication for the API$/);
  expect(record.steps[4]!.sessionId).toBe(record.steps[3]!.sessionId);
  for (const command of ["!thread status", `!thread status ${id}`])
    expect((await write(cortex, command)).split("\n").map((line) => line.split(" ")[0])).toEqual([
      "*Thread*",
      "✅",
      "planner:",
      "coder:implement:",
      "coder:review:",
      "reviewer:",
      "reviewer:",
    ]);

  expect(idIn(await write(cortex, "!thread add reviewer"))).toEqual({ id });
  expect((await ended(cortex, { id })).steps.slice(5)).toMatchObject([
    { agentSlotId: "reviewer", output: "fine" },
    { agentSlotId: "reviewer", output: "checked twice" },
  ]);
  expect(idIn(await write(cortex, "!thread add critic Please focus on security implications"))).toEqual({
    id,
  });
  const criticised = (await ended(cortex, { id })).steps[7]!;
  expect(criticised).toMatchObject({ agentSlotId: "critic", output: "not safe" });
  expect(criticised.input).toContain("Criticise: Please focus on security implications");

  const survey = idIn(await write(cortex, "!thread researcher Survey recent papers on tactile sensing"));
  expect(await ended(cortex, survey)).toMatchObject({
    templateName: null,
    userMessage: "Survey recent papers on tactile sensing",
    steps: [{ agentSlotId: "researcher", output: "found" }],
  });
  expect((await write(cortex, "!thread list")).split("\n")).toEqual([
    "*Recent Threads*",
    expect.stringContaining(`\`${survey.id}\` ad-hoc — completed | 1 step`),
    expect.stringContaining(`\`${id}\` coder-review — completed | 9 steps`),
  ]);

  for (const command of [() => "!thread cancel", (slow: string) => `!thread cancel ${slow}`]) {
    const slow = idIn(await write(cortex, "!thread researcher slow"));
    expect(await write(cortex, command(slow.id))).toBe(`Cancelled \`${slow.id}\`.`);
    expect(await ended(cortex, slow)).toMatchObject({ status: "cancelled" });
  }
});

test("an agent that a script asks for runs after the last step, and markers are waited for", async () => {
  using home = seedHome();
  await using cortex = await openTestCortex({}, { home: home.folders.home });
  const record = await ended(cortex, idIn(await write(cortex, "!thread overriding Do it")));
  expect(record.steps.map(({ agentSlotId, stage }) => [agentSlotId, stage])).toEqual([
    ["planner", null],
    ...Array.from({ length: 5 }, () => ["coder", "implement"]),
    ["hook-end", null],
  ]);
  expect(record).toMatchObject({ status: "completed", stopReason: "max_iterations" });
  expect(record.iterationCounts).toEqual({ "coder:implement→coder:review": 4 });
  expect(record.steps.at(-1)).toMatchObject({
    input: "You are a cleanup agent\n\nRun post-task cleanup: verify all tests pass",
    output: "clean",
  });
});

test("a record has the fields that the document lists", async () => {
  using home = seedHome();
  await using cortex = await openTestCortex({}, { home: home.folders.home });
  const { id } = await ended(cortex, idIn(await write(cortex, "!thread referring Do it")));
  const shown = JSON.parse(JSON.stringify(relayView((await cortex.relays.get(id))!)));
  expect(shown).toMatchObject({
    id: expect.stringMatching(/^thr_[0-9a-f]{8}$/),
    status: "completed",
    channel: expect.any(String),
    templateName: "referring",
    userMessage: "Do it",
    workspacePath: expect.stringMatching(new RegExp(`/tmp/threads/${id}$`)),
    artifactPath: expect.stringMatching(new RegExp(`/tmp/threads/${id}/artifact\\.md$`)),
    agents: {
      planner: { slotId: "planner", sessionId: null, status: "completed", persistSession: false },
      reviewer: { sessionId: `thr:${id}:reviewer`, status: "completed", persistSession: true },
    },
    activeAgent: "reviewer",
    activeStage: null,
    steps: [
      { stepIndex: 0, agentSlotId: "planner", stage: null, costUsd: 0, durationS: expect.any(Number) },
      { stepIndex: 1, agentSlotId: "reviewer", output: "fine" },
    ],
    iterationCounts: {},
    totalCostUsd: 0,
    metadata: null,
    abortReason: null,
  });
});
