import { expect, test } from "vitest";

import { CortexError } from "../../model/errors.ts";
import {
  createFaultCounter,
  type FaultKind,
  HUGE_LENGTH,
  MAX_FAULTS_COUNTED,
  type PlannedAnswer,
  applyFault,
  UNKNOWN_TOOL,
} from "./fault.ts";

const draft: PlannedAnswer = {
  text: "0123456789",
  calls: [
    { type: "toolCall", id: "a", name: "Read", arguments: { path: "x" } },
    { type: "toolCall", id: "b", name: "List", arguments: {} },
  ],
};

const FAILURES: readonly (readonly [FaultKind, boolean, string, string])[] = [
  ["429", true, "", "429, too many requests"],
  ["529", true, "", "529, overloaded"],
  ["500", true, "", "500, internal server error"],
  ["timeout", true, "", "timeout"],
  ["cut", true, "", "before the answer began"],
  ["cut-text", true, "01234", "in the middle of the text"],
  ["cut-call", true, "0123456789", "in the middle of a tool call"],
  ["refused", false, "", "401, invalid key"],
];

test.each(FAILURES)(
  "%s fails (worth another attempt: %j) after %j was said",
  (kind, transient, text, message) => {
    const failed = applyFault(draft, { kind });
    expect(failed).toMatchObject({ kind: "failure", text, error: { code: "model_failed", transient } });
    expect(failed.kind === "failure" && failed.error.message).toContain(message);
  },
);

test("a conversation that is too long is a failure of its own kind", () => {
  expect(applyFault(draft, { kind: "overflow" })).toMatchObject({
    kind: "failure",
    text: "",
    error: { code: "context_overflow", transient: false },
  });
});

test("a provider's wish to wait is in the error, for people and for programs", () => {
  const failed = applyFault(draft, { kind: "429", retryAfterMs: 100 });
  const error = failed.kind === "failure" ? failed.error : undefined;
  expect(error).toBeInstanceOf(CortexError);
  expect(error?.message).toContain("retry after 100 ms");
  expect(error?.retryAfterMs).toBe(100);
});

test("odd answers are answers", () => {
  const spoilt = (kind: FaultKind): PlannedAnswer | undefined => {
    const result = applyFault(draft, { kind });
    return result.kind === "answer" ? result.answer : undefined;
  };
  expect(spoilt("unknown-tool")?.calls.map(({ id, name }) => [id, name])).toEqual([
    ["a", UNKNOWN_TOOL],
    ["b", UNKNOWN_TOOL],
  ]);
  expect(spoilt("duplicate-ids")?.calls.map(({ id, name }) => [id, name])).toEqual([
    ["a", "Read"],
    ["a", "List"],
  ]);
  expect(spoilt("empty")).toEqual({ text: "", calls: [] });
  expect(spoilt("huge")?.text).toHaveLength(HUGE_LENGTH);
});

test("a text that is cut off is there even where the play says nothing", () => {
  const failed = applyFault({ text: "", calls: [] }, { kind: "cut-text" });
  expect(failed.kind === "failure" && failed.text).not.toBe("");
});

test("faults are counted for each place, and of too many places the oldest is forgotten", () => {
  const isDue = createFaultCounter();
  const fault = { kind: "cut", times: 1 } as const;
  for (let place = 0; place < MAX_FAULTS_COUNTED; place++) isDue(fault, `${place}`);
  expect(isDue(fault, "0")).toBe(false);
  expect(isDue(fault, "one more")).toBe(true);
  expect(isDue(fault, "1")).toBe(false);
  expect(isDue(fault, "0")).toBe(true);
});
