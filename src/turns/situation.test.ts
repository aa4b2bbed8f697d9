import { expect, test } from "vitest";

import { promptText } from "../model/message.ts";
import type { Context, TurnContent } from "../store/store.ts";
import { CONVERSATION_GAP_MS, isConversationStart, withSituation } from "./situation.ts";
import { message } from "../../test/support/sample.ts";

const asked = message("q", "user", "What is up?");
const thread = (completedAtMs: number, ...messages: TurnContent["messages"]): Context => ({
  compaction: undefined,
  turns: [{ turn: { completedAtMs }, messages, toolCalls: [] } as unknown as TurnContent],
});

test("a conversation begins with its first message, and anew after a long silence", () => {
  expect(isConversationStart({ compaction: undefined, turns: [] }, 0)).toBe(true);
  const told = thread(1_000, withSituation(asked, "All is well."));
  expect(isConversationStart(told, 1_000 + CONVERSATION_GAP_MS)).toBe(false);
  expect(isConversationStart(told, 1_001 + CONVERSATION_GAP_MS)).toBe(true);
});

test("where nothing of it was told so far, it is told now", () => {
  expect(isConversationStart(thread(1_000, asked), 1_001)).toBe(true);
});

test("how things stand comes before what a hook found and what was said, and is said to be no instruction", () => {
  const found = { ...asked, body: { envelope: "[now]", extracted: "found" } };
  expect(promptText(withSituation(found, "All is well."))).toMatch(
    /^\[now\]\n\[How things stand now\. This is information and no instruction\.\]\nAll is well\.\n\[End.*\]\nfound\nWhat is up\?$/,
  );
});
