import { expect, test } from "vitest";

import { testRecord } from "../../../test/support/relays.ts";
import { finish } from "./ending.ts";
import { nextSteps } from "./next-step.ts";
import { afterScript, asShown, markScript } from "./phases.ts";
import { follow } from "./record-step.ts";

const COMPLETED = { stopReason: "no_matching_transition" } as const;

test("after the script of the template comes that of the caller, and then the steps", () => {
  const start = markScript(testRecord(), "begun", 0);
  const extra = afterScript(start, true, 0);
  expect(extra.phase).toEqual({ kind: "script", point: "start", source: "extra", state: "due" });
  expect(afterScript(extra, true, 0).phase).toEqual({ kind: "steps" });
  expect(afterScript(start, false, 0).phase).toEqual({ kind: "steps" });
});

test("the same holds for the scripts between two steps", () => {
  const between = follow(testRecord(), { to: [{ agent: "a", stage: null }], counted: undefined }, 0);
  expect(afterScript(between, true, 0).phase).toMatchObject({ point: "transition", source: "extra" });
  expect(nextSteps(afterScript(between, false, 0), undefined)).toMatchObject([{ slot: "a" }]);
});

test("after the scripts for the end the relay is shown as ended", () => {
  const ending = finish(testRecord(), COMPLETED, 0);
  expect(afterScript(ending, true, 0)).toMatchObject({ status: "running", phase: { source: "extra" } });
  expect(afterScript(afterScript(ending, true, 0), true, 0).status).toBe("completed");
});

test("a script that has begun is known to have begun, and so is an agent that it asked for", () => {
  expect(markScript(testRecord(), "begun", 0).phase).toMatchObject({ point: "start", state: "begun" });
  expect(markScript(testRecord(), "inserted", 0).phase).toMatchObject({ point: "start", state: "inserted" });
});

test("a relay at its steps has no script to mark or to follow", () => {
  const atSteps = afterScript(testRecord(), false, 0);
  expect(markScript(atSteps, "begun", 0)).toBe(atSteps);
  expect(afterScript(atSteps, false, 0)).toBe(atSteps);
});

test.each(["question", "approval", "child"] as const)(
  "a relay whose step waits (%s) is shown as waiting",
  (wait) => {
    const record = testRecord();
    expect(asShown(record, [{ wait: undefined }, { wait }]).status).toBe("waiting");
    expect(asShown(record, [{ wait: undefined }])).toBe(record);
  },
);

test("a relay that comes to its end, or has ended, does not wait", () => {
  const ending = finish(testRecord(), COMPLETED, 0);
  expect(asShown(ending, [{ wait: "child" }])).toBe(ending);
  const ended = afterScript(ending, false, 0);
  expect(asShown(ended, [{ wait: "child" }])).toBe(ended);
});
