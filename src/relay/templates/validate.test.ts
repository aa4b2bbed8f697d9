import { expect, test } from "vitest";
import { check, edge, type Mistaken, SOURCE } from "../../../test/support/check-relay.ts";
import { MAX_SCRIPT_TIMEOUT_MS, MAX_TEMPLATE_AGENTS, MAX_TOTAL_STEPS, MAX_TRANSITIONS } from "./schema.ts";

const WRITER = { profile: "offline", persistSession: false, promptTemplate: "Write." };
const ERRORS: Mistaken[] = [
  [
    { template: { name: "other" } },
    "templates.both.name",
    '"other" does not match its key or file name "both"',
    "Remove it, or rename one of them.",
  ],
  [
    { template: 7 },
    "templates.both",
    "expected an object, got 7",
    "Agents that pass an artifact along, and their order.",
  ],
  [
    { template: { description: 7 } },
    "templates.both.description",
    "expected a string, got 7",
    "The purpose of the template.",
  ],
  [
    { template: { agents: [], transitions: [], entryAgent: "__active__" } },
    "templates.both.agents",
    "must not be empty",
    "The agents, by name or with overrides",
  ],
  [
    { template: { transitions: undefined } },
    "templates.both.transitions",
    "missing",
    "The rules for what follows each step",
  ],
  [
    { template: { entryAgent: undefined } },
    "templates.both.entryAgent",
    "missing",
    "The agent of the first step.",
  ],
  [
    { template: { maxTotalSteps: undefined } },
    "templates.both.maxTotalSteps",
    "missing",
    "Maximum number of steps.",
  ],
  [
    { template: { maxTotalSteps: 0 } },
    "templates.both.maxTotalSteps",
    "expected at least 1, got 0",
    "Maximum number of steps.",
  ],
  [
    { template: { maxTotalSteps: 1.5 } },
    "templates.both.maxTotalSteps",
    "expected an integer, got 1.5",
    "Maximum number of steps.",
  ],
  [
    { template: { maxTotalSteps: MAX_TOTAL_STEPS + 1 } },
    "templates.both.maxTotalSteps",
    "expected at most 10000, got 10001",
    "Maximum number of steps.",
  ],
  [
    { template: { maxTotalCostUsd: 0 } },
    "templates.both.maxTotalCostUsd",
    "expected more than 0, got 0",
    "Cost limit in USD.",
  ],
  [
    { template: { hooks: { onEnd: { command: "" } } } },
    "templates.both.hooks.onEnd.command",
    "must not be empty",
    "The shell command",
  ],
  [
    { template: { hooks: { onEnd: { command: "true", timeout: 0 } } } },
    "templates.both.hooks.onEnd.timeout",
    "expected at least 1, got 0",
    "Timeout in milliseconds.",
  ],
  [
    { template: { hooks: { onEnd: { command: "true", timeout: MAX_SCRIPT_TIMEOUT_MS + 1 } } } },
    "templates.both.hooks.onEnd.timeout",
    "expected at most 86400000, got 86400001",
    "Timeout in milliseconds.",
  ],
  [
    { template: { transitions: edge({ type: "sometimes" }) } },
    "templates.both.transitions[0].condition.type",
    'expected one of always, convergence, output_contains, output_not_contains, got "sometimes"',
    "Use one of always, convergence, output_contains, output_not_contains.",
  ],
  [
    { template: { transitions: edge({ type: "convergence", marker: "x", maxIterations: 0 }) } },
    "templates.both.transitions[0].condition.maxIterations",
    "expected at least 1, got 0",
    "convergence: how often `from` (or `to`, if the marker ends the relay) runs without the marker",
  ],
  [
    { template: { transitions: edge({ type: "convergence", marker: "x", onMarker: "halt" }) } },
    "templates.both.transitions[0].condition.onMarker",
    'expected one of advance, stop, got "halt"',
    "Use one of advance, stop.",
  ],
  [
    { template: { transitions: edge({ type: "output_contains", pattern: "(" }) } },
    "templates.both.transitions[0].condition.pattern",
    'Invalid pattern "(": missing closing ): `(`',
    "The syntax is RE2",
  ],
  [
    { template: { transitions: edge({ type: "output_not_contains", pattern: "(?=x)" }) } },
    "templates.both.transitions[0].condition.pattern",
    'Invalid pattern "(?=x)": invalid or unsupported Perl syntax: `(?=`',
    "The syntax is RE2",
  ],
  [
    { template: { agents: ["writer", "coder", "critc"] }, agents: { critic: WRITER } },
    "templates.both.agents[2]",
    'unknown agent "critc"',
    'Did you mean "critic"?',
  ],
  [
    { template: { agents: ["writer", "coder", { ref: "critc" }] }, agents: { critic: WRITER } },
    "templates.both.agents[2].ref",
    'unknown agent "critc"',
    'Did you mean "critic"?',
  ],
  [
    { template: { agents: ["writer", "coder", {}] } },
    "templates.both.agents[2].ref",
    "missing",
    "The agent's name.",
  ],
  [
    { template: { agents: ["writer", "coder", 7] } },
    "templates.both.agents[2]",
    "expected a string or an object, got 7",
    "The agents, by name or with overrides",
  ],
  [
    { template: { agents: ["writer", "coder", "writer"] } },
    "templates.both.agents[2]",
    'duplicate "writer"',
    "List an agent once; it can run any number of steps.",
  ],
  [
    { template: { agents: ["coder", { ref: "writer", promptTemplate: "file:x.md" }] } },
    "templates.both.agents[1].promptTemplate",
    "prompts/promptTemplates/x.md does not exist",
    "Create it, or name another file.",
  ],
  [
    { template: { entryAgent: "writr" } },
    "templates.both.entryAgent",
    '"writr" is not one of the template\'s agents',
    'Did you mean "writer"?',
  ],
  [
    { template: { entryAgent: "coder:review" } },
    "templates.both.entryAgent",
    '"coder:review" is not one of the template\'s agents',
    "Name the stage with entryStage.",
  ],
  [
    { template: { entryAgent: "coder", entryStage: "reviw" } },
    "templates.both.entryStage",
    '"coder" has no stage "reviw"',
    'Did you mean "review"?',
  ],
  [
    { template: { transitions: edge({}, "codr") } },
    "templates.both.transitions[0].to",
    '"codr" is not one of the template\'s agents',
    'Did you mean "coder"?',
  ],
  [
    { template: { transitions: edge({}, "coder", "wrter") } },
    "templates.both.transitions[0].from",
    '"wrter" is not one of the template\'s agents',
    'Did you mean "writer"?',
  ],
  [
    { template: { transitions: edge({}, "coder:reviw") } },
    "templates.both.transitions[0].to",
    '"coder" has no stage "reviw"',
    'Did you mean "review"?',
  ],
  [
    { template: { transitions: edge({}, "coder", "writer:one") } },
    "templates.both.transitions[0].from",
    '"writer" has no stage "one"',
    'Write "writer": it has no stages.',
  ],
  [
    { template: { transitions: edge({}, ["coder", "gone"]) } },
    "templates.both.transitions[0].to[1]",
    '"gone" is not one of the template\'s agents',
    "Use one of writer, coder.",
  ],
  [
    { template: { transitions: edge({}, []) } },
    "templates.both.transitions[0].to",
    "must not be empty",
    "The next step",
  ],
  [
    { template: { transitions: edge({ type: "convergence", marker: "x" }, "coder", ["writer", "coder"]) } },
    "templates.both.transitions[0].condition.type",
    "convergence supports only one agent in from",
    "Join them with always, and let the next agent converge.",
  ],
];

test.each(ERRORS)("%j is a problem at %s", async (change, path, message, hint) => {
  const { problems } = await check(change);
  const found = { source: expect.stringMatching(SOURCE), path, message, hint: expect.stringContaining(hint) };
  expect(problems).toEqual([found]);
});

const WARNINGS: Mistaken[] = [
  [
    { template: { color: "red" } },
    "templates.both.color",
    "unknown key",
    "Use one of $schema, name, description, agents, transitions, entryAgent, maxTotalSteps, maxTotalCostUsd, hooks, disableHooks, entryStage.",
  ],
  [
    { template: { agents: [{ ref: "writer", stages: {} }, "coder"] } },
    "templates.both.agents[0].stages",
    "unknown key",
    "Use one of ref, persistSession, directive, systemPrompt, promptTemplate, claudeAgent, outputStyle, tools, pluginDirs.",
  ],
  [
    { template: { transitions: edge({ retries: 5 }) } },
    "templates.both.transitions[0].condition.retries",
    "unknown key",
    "Use one of type, marker, maxIterations, onMarker, pattern, scope.",
  ],
  [
    { template: { transitions: edge({ type: "convergence" }) } },
    "templates.both.transitions[0].condition",
    "convergence without a marker never converges",
    'Add a marker, such as "[APPROVED]".',
  ],
  [
    { template: { transitions: edge({ type: "output_contains", pattern: "" }) } },
    "templates.both.transitions[0].condition.pattern",
    "an empty pattern matches every text",
    "Write a pattern, or use always.",
  ],
  [
    { template: { transitions: edge({ type: "output_not_contains" }) } },
    "templates.both.transitions[0].condition",
    "an empty pattern matches every text",
    "Write a pattern, or use always.",
  ],
  [
    { template: { transitions: edge({ marker: "x" }) } },
    "templates.both.transitions[0].condition.marker",
    'no effect with "always"',
    "Remove it, or change the type.",
  ],
  [
    { template: { transitions: [] } },
    "templates.both.agents[1]",
    'no transition leads to "coder"',
    "Add one, or remove the agent.",
  ],
  [
    { template: { entryStage: "one" } },
    "templates.both.entryStage",
    'ignored because "writer" has no stages',
    "Remove it.",
  ],
  [
    { template: { agents: ["writer", { ref: "coder", promptTemplate: "x" }] } },
    "templates.both.agents[1].promptTemplate",
    "ignored because the agent has stages",
    "Remove it: stages cannot be overridden.",
  ],
];

test.each(WARNINGS)("%j is a warning at %s", async (change, path, message, hint) => {
  expect(await check(change)).toEqual({
    problems: [],
    warnings: [{ source: expect.stringMatching(SOURCE), path, message, hint }],
  });
});

test("what the tables change is right by itself", async () => {
  expect(await check({ shell: {}, binding: { shell: "pair", worker: "coder" } })).toEqual({
    problems: [],
    warnings: [],
  });
});

test("__active__ may be an agent, the first agent and an end, also where agents does not list it", async () => {
  const template = {
    agents: ["writer"],
    entryAgent: "__active__",
    transitions: edge({}, "writer", "__active__"),
  };
  expect(await check({ template })).toEqual({ problems: [], warnings: [] });
  expect(
    await check({ template: { ...template, agents: ["writer", { ref: "__active__", tools: "Read" }] } }),
  ).toEqual({
    problems: [],
    warnings: [],
  });
});

test("agents and transitions of a template have limits", async () => {
  const agents = Array.from({ length: MAX_TEMPLATE_AGENTS + 1 }, () => "writer");
  const many = Array.from({ length: MAX_TRANSITIONS + 1 }, () => edge({})[0]);
  const { problems } = await check({ template: { agents: ["coder", ...agents], transitions: many } });
  expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual(
    expect.arrayContaining([
      "templates.both.agents: more than 100 entries",
      "templates.both.transitions: more than 1000 entries",
    ]),
  );
});
