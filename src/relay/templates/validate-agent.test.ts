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
  [{ coder: [] }, "agents.coder", "expected an object, got a list", "An agent that takes part in relays."],
  [
    { agent: { name: "reader" } },
    "agents.writer.name",
    '"reader" is not "writer", as its key or file is called',
    "Leave it out, or rename one of them.",
  ],
  [{ agents: { "a:b": WRITER } }, 'agents["a:b"]', '"a:b" is not the name of an agent', NAME],
  [{ agents: { __active__: WRITER } }, "agents.__active__", '"__active__" is not the name of an agent', NAME],
  [{ agents: { list: WRITER } }, "agents.list", '"list" is a command of !thread', "Give it another name."],
  [
    { agents: { "hook-end": WRITER } },
    "agents.hook-end",
    '"hook-end" is the name of the agents that relay scripts insert',
    "Give it another name.",
  ],
  [
    { agents: { Writer: WRITER } },
    "agents.Writer",
    '"Writer" and "writer" differ only in capital letters',
    "Give one of them another name.",
  ],
  [{ agent: { profile: undefined } }, "agents.writer.profile", "missing", "The profile it runs on"],
  [
    { agent: { profile: "claude-sonet" } },
    "agents.writer.profile",
    'no profile is called "claude-sonet"',
    'Did you mean "claude-sonnet"?',
  ],
  [{ agent: { persistSession: undefined } }, "agents.writer.persistSession", "missing", "Whether it goes on"],
  [
    { agent: { persistSession: "yes" } },
    "agents.writer.persistSession",
    'expected true or false, got "yes"',
    "Whether it goes on",
  ],
  [{ agent: { tools: 5 } }, "agents.writer.tools", "expected a string or a list, got 5", "The tools it has"],
  [
    { agent: { entryStage: "one" } },
    "agents.writer.entryStage",
    'no stage is called "one"',
    "Declare stages, or leave it out.",
  ],
  [
    { coder: { ...CODER, entryStage: "implemnt" } },
    "agents.coder.entryStage",
    'no stage is called "implemnt"',
    'Did you mean "implement"?',
  ],
  [
    { coder: { ...CODER, stages: { implement: {} } } },
    "agents.coder.stages.implement.promptTemplate",
    "missing",
    "What the agent is asked in this stage",
  ],
  [
    { agent: { promptTemplate: "{{inptu}}" } },
    "agents.writer.promptTemplate",
    "no variable is called {{inptu}}",
    'Did you mean "input"?',
  ],
  [
    { agent: { promptTemplate: "a\n{{#if input}}" } },
    "agents.writer.promptTemplate",
    "{{#if input}} on line 2 has no end",
    "Add {{/if}} where it ends.",
  ],
  [
    { agent: { promptTemplate: "a {{/if}}" } },
    "agents.writer.promptTemplate",
    "{{/if}} has no {{#if}} before it",
    "Remove it.",
  ],
  [
    { agent: { promptTemplate: "file:gone.md" } },
    "agents.writer.promptTemplate",
    "there is no prompts/promptTemplates/gone.md",
    "Write it, or name another.",
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
    "Write its path from prompts/systemPrompts.",
  ],
  [
    { agent: { pluginDirs: ["plugins/gone"] } },
    "agents.writer.pluginDirs[0]",
    'there is no folder "plugins/gone"',
    "where they are relative.",
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
    '"../../etc" leads out of the home',
    "If this is meant, write",
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
    'the agent begins with "implement", the first',
    "Say so with entryStage.",
  ],
  [
    { coder: { ...CODER, promptTemplate: "x" } },
    "agents.coder.promptTemplate",
    "is not used, because there are stages",
    "Leave it out: each stage has a promptTemplate of its own.",
  ],
  [
    { agent: { promptTemplate: undefined } },
    "agents.writer",
    "has neither promptTemplate nor stages",
    "It is asked {{input}}: the message, or what the agent before it answered.",
  ],
  [{ agent: { stages: {} } }, "agents.writer.stages", "has no stages", "Leave it out."],
  [
    { agent: { directive: "{{input}} {{whatever}} {{artifactPath}}" } },
    "agents.writer.directive",
    "{{input}} stays as it is",
    "Here, only {{artifactPath}} and {{currentDateTime}} are replaced.",
  ],
];

test.each(WARNINGS)("%j is a warning at %s", async (change, path, message, hint) => {
  expect(await check(change)).toEqual({
    problems: [],
    warnings: [{ source: expect.stringMatching(SOURCE), path, message, hint }],
  });
});
