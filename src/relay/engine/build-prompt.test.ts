import { expect, test } from "vitest";
import { buildPrompt, type StepFacts } from "./build-prompt.ts";
import type { RelayAgent } from "../templates/snapshot.ts";

const AGENT: RelayAgent = {
  name: "writer",
  description: "",
  profile: "offline",
  persistSession: true,
  directive: "You are a writer.",
  promptTemplate: "Write: {{input}}",
  pluginDirs: [],
};

const STAGED: RelayAgent = {
  name: "coder",
  description: "",
  profile: "offline",
  persistSession: true,
  directive: "You are a coder.",
  stages: {
    implement: { promptTemplate: "Implement {{artifactPath}}.", description: "", continuesSession: false },
    review: { promptTemplate: "Review {{artifactPath}}.", description: "", continuesSession: true },
  },
  entryStage: "implement",
  pluginDirs: [],
};

const FACTS: StepFacts = {
  agent: AGENT,
  stage: null,
  userMessage: "a poem",
  previousOutput: null,
  isAdHoc: false,
  isResumed: false,
  artifactPath: "/w/artifact.md",
  modifiedFiles: "",
  modifiedFilesWithDiff: "",
  sectionPath: null,
  pending: { messages: [], dropped: 0 },
  currentDateTime: "2026-04-16T18:00:00+08:00",
};

function promptOf(facts: Partial<StepFacts>): string {
  return buildPrompt({ ...FACTS, ...facts }).prompt;
}

function agent(changes: Partial<RelayAgent>): RelayAgent {
  return { ...AGENT, ...changes };
}

const PROTOCOL = "[Cortex Thread Protocol]";

test("the first step is told who it is, how relays work, and what to do", () => {
  const prompt = promptOf({});
  expect(prompt.split("\n\n")).toEqual([
    "You are a writer.",
    expect.stringMatching(
      /^\[Cortex Thread Protocol\]\n[^]*\/w\/artifact\.md[^]*\[ABORT: <reason>\][^]*relay_abort/,
    ),
    "Write: a poem",
  ]);
});

test("a relay without an artifact has no protocol", () => {
  expect(promptOf({ artifactPath: null })).toBe("You are a writer.\n\nWrite: a poem");
});

test("the protocol holds no marker that stands alone on its line", () => {
  const lines = promptOf({}).split("\n");
  expect(lines).toContainEqual(expect.stringContaining("[ABORT"));
  expect(lines.filter((line) => line.trim().startsWith("[ABORT"))).toEqual([]);
});

test("a step of a fan-out reads the artifact and writes to a section of its own", () => {
  const agent: RelayAgent = { ...AGENT, promptTemplate: "Write to {{artifactPath}}." };
  const prompt = promptOf({ agent, sectionPath: "/w/section-a.md" });
  expect(prompt).toContain("the artifact:\n/w/artifact.md\n");
  expect(prompt).toContain("your own file, which is appended to the artifact:\n/w/section-a.md\n");
  expect(prompt).toMatch(/Write to \/w\/section-a\.md\.$/);
});

test("a session that goes on is given neither, whatever its stage says", () => {
  expect(promptOf({ isResumed: true })).toBe("Write: a poem");
  expect(promptOf({ agent: STAGED, stage: "implement", isResumed: true })).toBe("Implement /w/artifact.md.");
  expect(promptOf({ agent: STAGED, stage: "review", isResumed: true })).toBe("Review /w/artifact.md.");
});

test("a stage that continues a session which is gone is told everything", () => {
  const prompt = promptOf({ agent: STAGED, stage: "review" });
  expect(prompt).toMatch(/^You are a coder\.\n\n\[Cortex/);
  expect(prompt).toMatch(/Review \/w\/artifact\.md\.$/);
});

test("the prompt is the stage's, else the agent's, else the input", () => {
  const { promptTemplate: _, ...silent } = AGENT;
  const facts = { isResumed: true } as const;
  expect(promptOf({ ...facts, agent: STAGED, stage: "review" })).toBe("Review /w/artifact.md.");
  expect(promptOf({ ...facts, agent: STAGED, stage: "toString" })).toBe("a poem");
  expect(promptOf({ ...facts, agent: STAGED, stage: null })).toBe("a poem");
  expect(promptOf({ ...facts, agent: silent })).toBe("a poem");
});

test("the input is the message at first, and then what the agent before answered", () => {
  const facts = {
    isResumed: true,
    agent: agent({ promptTemplate: "{{input}} | {{userMessage}} | {{previousOutput}}" }),
  };
  expect(promptOf(facts)).toBe("a poem | a poem |");
  expect(promptOf({ ...facts, previousOutput: "roses" })).toBe("roses | a poem | roses");
});

test("the input of an agent that was added is what came with it, and the user's message stays the original", () => {
  const facts = {
    isAdHoc: true,
    isResumed: true,
    agent: agent({ promptTemplate: "{{input}} | {{userMessage}} | {{previousOutput}}" }),
    previousOutput: "roses",
  };
  expect(promptOf({ ...facts, message: "Be strict" })).toBe("Be strict | a poem | roses");
  expect(promptOf(facts)).toBe("a poem | a poem | roses");
});

test("every variable is put in", () => {
  const promptTemplate =
    "{{artifactPath}} {{modifiedFiles}} {{modifiedFilesWithDiff}} {{currentDateTime}}{{#if previousOutput}} no{{/if}}";
  expect(
    promptOf({
      isResumed: true,
      agent: agent({ promptTemplate }),
      modifiedFiles: "- a",
      modifiedFilesWithDiff: "### a",
    }),
  ).toBe("/w/artifact.md - a ### a 2026-04-16T18:00:00+08:00");
});

const INJECTED = "Previous agent output:\n\nroses\n\n---\n\n";

test.each([
  ["an agent by itself is given what came before", {}, `${INJECTED}Write: a poem`],
  ["not where there was nothing", { previousOutput: null }, "Write: a poem"],
  ["not where it was empty", { previousOutput: "" }, "Write: a poem"],
  ["not in a template", { isAdHoc: false }, "Write: roses"],
  [
    "not where the prompt names it",
    { agent: agent({ promptTemplate: "After {{previousOutput}}: {{input}}" }) },
    "After roses: a poem",
  ],
  ["not in a stage that continues its session", { agent: STAGED, stage: "review" }, "Review /w/artifact.md."],
  ["in another stage", { agent: STAGED, stage: "implement" }, `${INJECTED}Implement /w/artifact.md.`],
])("previous output: %s", (_, facts, expected) => {
  expect(promptOf({ isAdHoc: true, isResumed: true, previousOutput: "roses", ...facts })).toBe(expected);
});

test("a stage that continues a session which is gone is given what came before", () => {
  const facts = { agent: STAGED, stage: "review", isAdHoc: true, previousOutput: "roses" };
  expect(promptOf(facts)).toContain(`${INJECTED}Review`);
});

test("what people wrote meanwhile comes last", () => {
  const messages = ["shorter", "and\n\nfunnier"];
  const facts = { isResumed: true, pending: { messages, dropped: 0 } };
  expect(promptOf(facts)).toBe(
    "Write: a poem\n\n---\n\nUser replies (2 buffered):\n\nshorter\n\nand\n\nfunnier",
  );
  expect(promptOf({ ...facts, pending: { messages, dropped: 3 } })).toContain(
    "User replies (last 2, 3 earlier dropped):",
  );
});

test("the line break at the end of a file is no blank line of its own", () => {
  const agent = { ...AGENT, directive: "You are a writer.\n", promptTemplate: "Write.\r\n" };
  const pending = { messages: ["Shorter"], dropped: 0 };
  const { prompt } = buildPrompt({ ...FACTS, agent, artifactPath: null, pending });
  expect(prompt).toBe("You are a writer.\n\nWrite.\n\n---\n\nUser replies (1 buffered):\n\nShorter");
});

test("the system prompt goes by itself, and only system variables count in it and in directives", () => {
  const { systemPrompt, prompt } = buildPrompt({
    ...FACTS,
    agent: agent({
      systemPrompt: "It is {{currentDateTime}}, {{input}}.",
      directive: "See {{artifactPath}} {{x}}.",
    }),
  });
  expect(systemPrompt).toBe("It is 2026-04-16T18:00:00+08:00, {{input}}.");
  expect(prompt).toMatch(/^See \/w\/artifact\.md \{\{x\}\}\./);
  expect(buildPrompt(FACTS)).not.toHaveProperty("systemPrompt");
});

test("the prompt is trimmed", () => {
  expect(promptOf({ isResumed: true, agent: agent({ promptTemplate: "\n\n {{input}} \n" }) })).toBe("a poem");
  expect(promptOf({ isResumed: true, artifactPath: null })).not.toContain(PROTOCOL);
});
