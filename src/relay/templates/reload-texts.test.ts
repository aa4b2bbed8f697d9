import { expect, test } from "vitest";

import { problemsHint, refusedText, reloadedText } from "./reload-texts.ts";

test.each([
  [[], "thread-templates.json hot-reloaded"],
  [["config/thread-templates.json"], "thread-templates.json hot-reloaded"],
  [["config/thread-templates/agents/a.json"], "config/thread-templates/agents/a.json hot-reloaded"],
  [
    ["config/thread-templates.json", "prompts/directives/a.md"],
    "prompts/directives/a.md changed — thread-templates reloaded",
  ],
])("what has changed is said as the original says it (%j)", (files, text) => {
  expect(reloadedText(files)).toBe(text);
});

test("what is wrong is said with the first problem, and how to see the others", () => {
  const problem = {
    source: "thread-templates.json:1:2",
    path: "agents.a",
    message: "is missing",
    hint: "Add it.",
  };
  const first = "thread-templates.json:1:2 agents.a: is missing. Add it.";
  expect(refusedText([problem], { files: [], isKept: true })).toBe(
    `thread-templates.json has a problem and is not in use; what was there before is\n${first}`,
  );
  expect(refusedText([problem], { files: [], isKept: false })).toBe(
    `thread-templates.json has a problem and only what is right of it is in use\n${first}`,
  );
  const refused = { files: ["prompts/directives/a.md"], isKept: true };
  expect(refusedText([problem, { ...problem, path: "" }], refused)).toBe(
    `prompts/directives/a.md has 2 problems and is not in use; what was there before is\n${first}\n\`cortex relay validate\` lists them all.`,
  );
});

test("a name may be unknown because something is wrong with the files", () => {
  const problem = { source: "thread-templates.json", path: "", message: "is missing", hint: "Add it." };
  expect(problemsHint({ problems: [] })).toBe("");
  expect(problemsHint({ problems: [problem, problem] })).toBe(
    " The files of relays have 2 problems: `cortex relay validate` tells.",
  );
});
