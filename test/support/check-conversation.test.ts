import { expect, test } from "vitest";

import { conversationProblem } from "./check-conversation.ts";
import { type AskedMessage, said } from "./model-protocol.ts";

const user = said("user", "go");
const calling = (...ids: readonly string[]): AskedMessage =>
  said("assistant", "", { calls: ids.map((id) => ({ id, name: "A", arguments: {} })) });
const result = (callId: string): AskedMessage => said("tool", "done", { callId });

test.each<[string, readonly AskedMessage[]]>([
  ["a question", [said("system", "Be brief."), user]],
  ["calls with their results", [user, calling("a", "b"), result("b"), result("a")]],
  ["a message after the results", [user, calling("a"), result("a"), user]],
  ["an answer and a new question", [user, said("assistant", "well"), user]],
])("%s is accepted", (_, messages) => {
  expect(conversationProblem(messages)).toBeUndefined();
});

test.each<[string, readonly AskedMessage[], string]>([
  ["nothing", [], "does not begin with the user"],
  ["an answer first", [said("assistant", "well"), user], "does not begin with the user"],
  ["a call without a result", [user, calling("a")], "the call a has no result"],
  ["a message before the result", [user, calling("a"), user, result("a")], "before the result of a"],
  ["a result without a call", [user, result("a")], "answers no open call"],
  ["a second result", [user, calling("a"), result("a"), result("a")], "answers no open call"],
  ["an id twice", [user, calling("a"), result("a"), calling("a"), result("a")], 'two calls have the id "a"'],
  [
    "a name that is none",
    [user, said("assistant", "", { calls: [{ id: "a", name: "a b", arguments: {} }] })],
    "a b",
  ],
  ["two answers", [user, said("assistant", "a"), said("assistant", "b"), user], "speaks twice"],
  ["an empty answer", [user, said("assistant", " "), user], "is empty"],
  ["an answer last", [user, said("assistant", "a")], "ends with the assistant"],
])("%s is refused", (_, messages, problem) => {
  expect(conversationProblem(messages)).toContain(problem);
});
