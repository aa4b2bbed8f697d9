import { expect, test } from "vitest";

import { refusedText, reloadedText } from "./reload-texts.ts";

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
  expect(refusedText([problem], [])).toBe(
    `thread-templates.json has a problem and is not in use; what was there before is\n${first}`,
  );
  expect(refusedText([problem, { ...problem, path: "" }], ["prompts/directives/a.md"])).toBe(
    `prompts/directives/a.md has 2 problems and is not in use; what was there before is\n${first}\n\`cortex relay validate\` lists them all.`,
  );
});
