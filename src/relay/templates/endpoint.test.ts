import * as fc from "fast-check";
import { expect, test } from "vitest";

import { meansStep, parseEndpoint, printEndpoint, resolveStage } from "./endpoint.ts";

test("an end without a colon is an agent", () => {
  expect(parseEndpoint("coder")).toEqual({ agent: "coder", stage: null });
});

test("an end with a colon is an agent and its stage", () => {
  expect(parseEndpoint("coder:review")).toEqual({ agent: "coder", stage: "review" });
});

test("of two colons the second belongs to the stage", () => {
  expect(parseEndpoint("coder:review:fast")).toEqual({ agent: "coder", stage: "review:fast" });
});

test("a colon with nothing behind it names no stage", () => {
  expect(parseEndpoint("coder:")).toEqual({ agent: "coder", stage: null });
});

test("an end that is printed reads as the same end", () => {
  const agent = fc.stringMatching(/^[a-z0-9_-]{1,10}$/);
  const stage = fc.option(fc.stringMatching(/^[a-z:]{1,10}$/), { nil: null });
  fc.assert(
    fc.property(fc.record({ agent, stage }), (endpoint) => {
      expect(parseEndpoint(printEndpoint(endpoint))).toEqual(endpoint);
    }),
  );
});

test("a bare agent means every stage of it, and an agent with a stage means only that one", () => {
  const review = { agent: "coder", stage: "review" };
  expect(meansStep(parseEndpoint("coder"), review)).toBe(true);
  expect(meansStep(parseEndpoint("coder:review"), review)).toBe(true);
  expect(meansStep(parseEndpoint("coder:implement"), review)).toBe(false);
  expect(meansStep(parseEndpoint("reviewer"), review)).toBe(false);
  expect(meansStep(parseEndpoint("coder:review"), { agent: "coder", stage: null })).toBe(false);
});

test("an agent without stages runs none, whatever is asked for", () => {
  expect(resolveStage({}, "review")).toBeNull();
  expect(resolveStage({ stages: {} }, null)).toBeNull();
});

test("a stage that is asked for is run", () => {
  expect(resolveStage({ stages: { a: {}, b: {} }, entryStage: "a" }, "b")).toBe("b");
});

test("where no stage, or an unknown one, is asked for, the agent begins at its entry", () => {
  expect(resolveStage({ stages: { a: {}, b: {} }, entryStage: "b" }, null)).toBe("b");
  expect(resolveStage({ stages: { a: {}, b: {} }, entryStage: "b" }, "toString")).toBe("b");
});

test("an agent that names no entry begins at its first stage", () => {
  expect(resolveStage({ stages: { a: {}, b: {} } }, null)).toBe("a");
  expect(resolveStage({ stages: { a: {}, b: {} }, entryStage: "missing" }, null)).toBe("a");
});
