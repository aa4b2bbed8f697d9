import { expect, test } from "vitest";

import { MAIN_SESSION, type SessionKey } from "../model/session-key.ts";
import type { ApprovalView } from "../feature/approval-view.ts";
import { type PromptState, promptOf, statusOf, type StatusState } from "./chat-prompt.ts";
import { IDLE } from "./chat-view.ts";
import type { TextRow } from "../terminal/spans.ts";

const WORKING = { ...IDLE, state: "working" } as const;

function textOf(row: TextRow): string {
  return row.map(({ text }) => text).join("");
}

test("the prompt says where one is, and what a line would do", () => {
  const state: PromptState = { view: IDLE, session: MAIN_SESSION, mode: "collect", request: undefined };
  const prompt = (fields: Partial<PromptState>): string => textOf(promptOf({ ...state, ...fields }));
  expect(prompt({})).toBe("› ");
  expect(prompt({ view: WORKING })).toBe("collect › ");
  expect(prompt({ view: WORKING, mode: undefined })).toBe("… › ");
  expect(prompt({ session: "work" as SessionKey })).toBe("work › ");
  expect(prompt({ session: "work" as SessionKey, view: WORKING })).toBe("work · collect › ");
  expect(prompt({ session: "x".repeat(100) as SessionKey })).toBe(`${"x".repeat(23)}… › `);
  expect(prompt({ request: { question: null } as ApprovalView })).toBe("yes or no › ");
  expect(prompt({ request: { question: "Which?" } as ApprovalView })).toBe("answer › ");
});

test("the status says what goes on, for how long, and what was spent", () => {
  const state: StatusState = { view: WORKING, nowMs: 5_000, sinceMs: 5_000, spentUsd: 0, isAborting: false };
  const status = (fields: Partial<StatusState>): string => textOf(statusOf({ ...state, ...fields }));
  expect(status({})).toBe("⠋ working · Ctrl-C aborts");
  expect(status({ nowMs: 17_300, spentUsd: 0.25 })).toBe("⠸ working · 12 s · $0.2500 · Ctrl-C aborts");
  expect(status({ nowMs: 95_000 })).toBe("⠋ working · 1 min 30 s · Ctrl-C aborts");
  expect(status({ nowMs: 4_000, isAborting: true })).toBe("⠋ working · aborting");
  const calls = { a: { name: "Bash", args: "ls" }, b: { name: "List", args: "" } };
  expect(status({ view: { ...WORKING, calls } })).toBe("⠋ Bash ls, List · Ctrl-C aborts");
  expect(status({ view: { ...IDLE, state: "waiting" } })).toBe("⏸ waiting for your answer · Ctrl-C aborts");
  expect(status({ view: { ...IDLE, state: "waiting", wait: "child" } })).toContain("waiting for its workers");
});
