import { expect, test } from "vitest";
import { check, edge, type Mistaken, SOURCE } from "../../../test/support/check-relay.ts";

const BOUND = { shell: "pair", worker: "coder" };

const ERRORS: Mistaken[] = [
  [
    { binding: { shell: "pairs" }, shell: {} },
    "templates.bound.shell",
    'unknown shell "pairs"',
    'Did you mean "pair"?',
  ],
  [
    { binding: { shell: "pair" } },
    "templates.bound.shell",
    'unknown shell "pair"',
    "No shells are defined yet.",
  ],
  [
    { binding: { shell: "pair" }, shell: {} },
    "templates.bound.worker",
    "missing",
    'Name an agent for this parameter of the shell "pair".',
  ],
  [
    { binding: { shell: "pair", worker: "codr" }, shell: {} },
    "templates.bound.worker",
    'unknown agent "codr"',
    'Did you mean "coder"?',
  ],
  [
    { binding: { shell: "pair", worker: 7 }, shell: {} },
    "templates.bound.worker",
    "expected a string, got 7",
    "A template made from a shell, with an agent for each of its parameters.",
  ],
  [
    { binding: { ...BOUND, maxTotalSteps: 0 }, shell: {} },
    "templates.bound.maxTotalSteps",
    "expected at least 1, got 0",
    "Maximum number of steps.",
  ],
  [
    { shell: { agents: ["writer", "{worke}"] } },
    "shells.pair.agents[1]",
    'unknown parameter "worke"',
    'Did you mean "worker"?',
  ],
  [
    { shell: { entryAgent: "{worker.profile}" } },
    "shells.pair.entryAgent",
    "unknown property in {worker.profile}",
    "Write {worker} or {worker.entryStage}.",
  ],
  [
    { shell: { params: ["worker", "name"] } },
    "shells.pair.params[1]",
    '"name" is a reserved name',
    "Rename the parameter.",
  ],
  [
    { shell: { params: ["worker", "worker"] } },
    "shells.pair.params[1]",
    'duplicate "worker"',
    "Remove one of them.",
  ],
  [
    { shell: { params: ["worker", "a b"] } },
    "shells.pair.params[1]",
    'invalid parameter name "a b"',
    "Its parameters",
  ],
  [
    { shell: { transitions: edge({ type: "output_contains", pattern: "(" }) } },
    "shells.pair.transitions[0].condition.pattern",
    'Invalid pattern "(": missing closing ): `(`',
    "The syntax is RE2",
  ],
  [
    { shell: { transitions: edge({}, "stranger") }, binding: BOUND },
    "templates.bound.shell",
    'in the shell "pair", transitions[0].to: "stranger" is not one of the template\'s agents',
    "Use one of writer, coder.",
  ],
];

test.each(ERRORS)("%j is a problem at %s", async (change, path, message, hint) => {
  const { problems } = await check(change);
  const found = { source: expect.stringMatching(SOURCE), path, message, hint: expect.stringContaining(hint) };
  expect(problems).toEqual([found]);
});

const WARNINGS: Mistaken[] = [
  [
    { binding: { ...BOUND, wroker: "coder" }, shell: {} },
    "templates.bound.wroker",
    'is not a parameter of the shell "pair"',
    'Did you mean "worker"?',
  ],
];

test.each(WARNINGS)("%j is a warning at %s", async (change, path, message, hint) => {
  expect(await check(change)).toEqual({
    problems: [],
    warnings: [{ source: expect.stringMatching(SOURCE), path, message, hint }],
  });
});
