import { expect, test } from "vitest";

import type { AgentId, MessageId, PersonaId, TurnId } from "../model/ids.ts";
import type { Message, Role, ToolCall } from "../model/message.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import { NO_USAGE } from "../model/usage.ts";
import type { StoredTurn } from "../store/store.ts";
import { profileView, turnView } from "./views.ts";

const turn: StoredTurn = {
  id: "t2" as TurnId,
  parent: undefined,
  depth: 0,
  type: "normal",
  status: "completed",
  session: MAIN_SESSION,
  agent: "main" as AgentId,
  persona: "atlas" as PersonaId,
  facts: { role: "manager", profile: "p", provider: "x", model: "y", usage: NO_USAGE, costUsd: null },
  toolCallCount: 0,
  childCount: 0,
  sourceEvent: undefined,
  startedAtMs: 0,
  completedAtMs: 1_500,
  hash: "h",
};

function said(role: Role, content: string): Message {
  return { id: content as MessageId, role, content, atMs: 0 };
}

test("the query is all that came before the first answer, and the text is the last answer", () => {
  const messages = [
    said("system", "rules"),
    said("user", "first"),
    said("user", "second"),
    said("assistant", "working"),
    said("user", "steered"),
    said("assistant", "done"),
  ];
  const view = turnView({ turn, messages, toolCalls: [] });
  expect(view.query.map(({ content }) => content)).toEqual(["rules", "first", "second"]);
  expect(view.text).toBe("done");
  expect(view).toMatchObject({
    parentId: null,
    sourceEventId: null,
    costUsd: null,
    startedAt: "1970-01-01T00:00:00.000Z",
    completedAt: "1970-01-01T00:00:01.500Z",
  });
});

test("a turn that was aborted before anything was said has no text", () => {
  const view = turnView({
    turn: { ...turn, status: "aborted" },
    messages: [said("user", "go")],
    toolCalls: [],
  });
  expect([view.text, view.query.length]).toEqual(["", 1]);
});

test.each<[string, Partial<ToolCall>, string | null, number | null]>([
  ["one that is under way", { status: "started" }, null, null],
  ["one that is done", { result: { text: "found" }, completedAtMs: 250 }, "found", 150],
  ["one with a result of another form", { result: [1], completedAtMs: 100 }, "[1]", 0],
  ["one with no result", { result: null, status: "unknown" }, "null", null],
])(
  "of a tool call, what the model was told and how long it took are shown: %s",
  (_, call, result, durationMs) => {
    const whole: ToolCall = {
      ordinal: 0,
      callId: "c",
      tool: "T",
      params: {},
      status: "ok",
      startedAtMs: 100,
      ...call,
    };
    const { toolCalls } = turnView({ turn, messages: [], toolCalls: [whole] });
    expect(toolCalls).toMatchObject([{ id: "c", name: "T", args: {}, result, durationMs }]);
  },
);

test("of a profile, the variable that holds the key is shown, and nothing that may hold a secret", () => {
  const view = profileView({
    name: "p",
    backend: "pi",
    apiKeyEnv: "KEY",
    fallback: [],
    extraEnv: { A: "secret" },
    extraOption: { b: "secret" },
  });
  expect(view.apiKeyEnv).toBe("KEY");
  expect(JSON.stringify(view)).not.toContain("secret");
});
