import { expect, test } from "vitest";

import { testWorkspace } from "../../../test/support/tool-context.ts";
import { askUserTool, MAX_OPTION_LENGTH, MAX_OPTIONS, MAX_QUESTION_LENGTH } from "./ask-user.ts";

test("a question suspends the turn until somebody answers", async () => {
  using files = testWorkspace();
  const params = { question: " Which colour? ", options: ["red", " green ", "red"] };
  expect(await askUserTool.run(params, files.context)).toEqual({
    kind: "suspend",
    waitKind: "question",
    detail: { question: "Which colour?", options: ["red", "green"] },
  });
  expect(await askUserTool.run({ question: "Why?" }, files.context)).toMatchObject({
    detail: { question: "Why?", options: [] },
  });
});

test("the longest question with the most options is asked", async () => {
  using files = testWorkspace();
  const options = Array.from({ length: MAX_OPTIONS }, (_, index) =>
    `${index}`.padEnd(MAX_OPTION_LENGTH, "x"),
  );
  const question = "?".repeat(MAX_QUESTION_LENGTH);
  expect(await askUserTool.run({ question, options }, files.context)).toMatchObject({
    detail: { question, options },
  });
});

test.each([
  [{}, '"question"'],
  [{ question: " " }, '"question"'],
  [{ question: "?".repeat(MAX_QUESTION_LENGTH + 1) }, '"question"'],
  [{ question: "?", options: [] }, '"options"'],
  [{ question: "?", options: [""] }, '"options[0]"'],
  [{ question: "?", options: ["x".repeat(MAX_OPTION_LENGTH + 1)] }, '"options[0]"'],
  [{ question: "?", options: Array.from({ length: MAX_OPTIONS + 1 }, String) }, '"options"'],
  [{ question: "?", options: [{ label: "a" }] }, '"options[0]"'],
])("a call that cannot be made is refused (%#)", async (params, message) => {
  using files = testWorkspace();
  await expect(askUserTool.run(params, files.context)).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining(message),
  });
});
