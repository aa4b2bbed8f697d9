import { expect, test } from "vitest";
import { check, type Mistaken, SOURCE } from "../../../test/support/check-relay.ts";

const WRITER = { profile: "offline", persistSession: false, promptTemplate: "Write." };
const CODER = {
  profile: "offline",
  persistSession: true,
  stages: { implement: { promptTemplate: "Do." }, review: { promptTemplate: "Look." } },
  entryStage: "implement",
};
const NAME = "A name has 1 to 64 letters, digits, - and _, and starts with a letter or digit.";

const ERRORS: Mistaken[] = [
  [{ coder: [] }, "agents.coder", "expected an object, got a list", "An agent for relays."],
  [
    { agent: { name: "reader" } },
    "agents.writer.name",
    '"reader" does not match its key or file name "writer"',
    "Remove it, or rename one of them.",
  ],
  [{ agents: { "a:b": WRITER } }, 'agents["a:b"]', 'invalid agent name "a:b"', NAME],
  [{ agents: { __active__: WRITER } }, "agents.__active__", 'invalid agent name "__active__"', NAME],
  [{ agents: { list: WRITER } }, "agents.list", '"list" is a !thread command', "Choose another name."],
  [
    { agents: { "hook-end": WRITER } },
    "agents.hook-end",
    '"hook-end" is reserved for relay scripts',
    "Choose another name.",
  ],
  [
    { agents: { Writer: WRITER } },
    "agents.Writer",
    '"Writer" and "writer" differ only in case',
    "Rename one of them.",
  ],
  [{ agent: { profile: undefined } }, "agents.writer.profile", "missing", "The profile it runs on"],
  [
    { agent: { profile: "claude-sonet" } },
    "agents.writer.profile",
    'unknown profile "claude-sonet"',
    'Did you mean "claude-sonnet"?',
  ],
  [
    { agent: { persistSession: undefined } },
    "agents.writer.persistSession",
    "missing",
    "Whether its later steps continue",
  ],
  [
    { agent: { persistSession: "yes" } },
    "agents.writer.persistSession",
    'expected true or false, got "yes"',
    "Whether its later steps continue",
  ],
  [
    { agent: { tools: 5 } },
    "agents.writer.tools",
    "expected a string or a list, got 5",
    "Its tools, replacing the default",
  ],
  [
    { agent: { entryStage: "one" } },
    "agents.writer.entryStage",
    'unknown stage "one"',
    "Declare stages, or remove it.",
  ],
  [
    { coder: { ...CODER, entryStage: "implemnt" } },
    "agents.coder.entryStage",
    'unknown stage "implemnt"',
    'Did you mean "implement"?',
  ],
  [
    { coder: { ...CODER, stages: { implement: {} } } },
    "agents.coder.stages.implement.promptTemplate",
    "missing",
    "The agent's prompt in this stage",
  ],
  [
    { agent: { promptTemplate: "{{inptu}}" } },
    "agents.writer.promptTemplate",
    "unknown variable {{inptu}}",
    'Did you mean "input"?',
  ],
  [
    { agent: { promptTemplate: "a\n{{#if input}}" } },
    "agents.writer.promptTemplate",
    "{{#if input}} on line 2 is not closed",
    "Add {{/if}}.",
  ],
  [
    { agent: { promptTemplate: "a {{/if}}" } },
    "agents.writer.promptTemplate",
    "{{/if}} has no {{#if}}",
    "Remove it.",
  ],
  [
    { agent: { promptTemplate: "file:gone.md" } },
    "agents.writer.promptTemplate",
    "prompts/promptTemplates/gone.md does not exist",
    "Create it, or name another file.",
  ],
  [
    { agent: { directive: "file:../promptTemplates/x.md" } },
    "agents.writer.directive",
    '"../promptTemplates/x.md" is not a file in prompts/directives',
    "Use a path relative to prompts/directives.",
  ],
  [
    { agent: { systemPrompt: "file:/etc/passwd" } },
    "agents.writer.systemPrompt",
    '"/etc/passwd" is not a file in prompts/systemPrompts',
    "Use a path relative to prompts/systemPrompts.",
  ],
  [
    { agent: { pluginDirs: ["plugins/gone"] } },
    "agents.writer.pluginDirs[0]",
    'the folder "plugins/gone" does not exist',
    "Relative paths start from",
  ],
  [
    { agent: { pluginDirs: ["config/thread-templates.json"] } },
    "agents.writer.pluginDirs[0]",
    '"config/thread-templates.json" is not a folder',
    "A plugin is a folder.",
  ],
  [
    { agent: { pluginDirs: ["../../etc"] } },
    "agents.writer.pluginDirs[0]",
    '"../../etc" is outside the home',
    "If that is intended, write",
  ],
];

test.each(ERRORS)("%j is a problem at %s", async (change, path, message, hint) => {
  const { problems } = await check(change);
  const found = { source: expect.stringMatching(SOURCE), path, message, hint: expect.stringContaining(hint) };
  expect(problems).toEqual([found]);
});

const WARNINGS: Mistaken[] = [
  [
    { agent: { promptTempalte: "x" } },
    "agents.writer.promptTempalte",
    "unknown key",
    'Did you mean "promptTemplate"?',
  ],
  [
    { coder: { ...CODER, entryStage: undefined } },
    "agents.coder.stages",
    'without entryStage the agent starts with the first, "implement"',
    "Set entryStage.",
  ],
  [
    { coder: { ...CODER, promptTemplate: "x" } },
    "agents.coder.promptTemplate",
    "ignored because the agent has stages",
    "Remove it: each stage has its own promptTemplate.",
  ],
  [
    { agent: { promptTemplate: undefined } },
    "agents.writer",
    "has neither promptTemplate nor stages",
    "Its prompt is then {{input}}: the message, or the previous agent's answer.",
  ],
  [{ agent: { stages: {} } }, "agents.writer.stages", "has no stages", "Remove it."],
  [
    { agent: { directive: "{{input}} {{whatever}} {{artifactPath}}" } },
    "agents.writer.directive",
    "{{input}} is not replaced",
    "Only {{artifactPath}} and {{currentDateTime}} are replaced here.",
  ],
];

test.each(WARNINGS)("%j is a warning at %s", async (change, path, message, hint) => {
  expect(await check(change)).toEqual({
    problems: [],
    warnings: [{ source: expect.stringMatching(SOURCE), path, message, hint }],
  });
});
