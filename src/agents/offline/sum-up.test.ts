import { expect, test } from "vitest";

import { question, userMessage } from "../../../test/support/question.ts";
import { createOfflineModel, DEFAULT_WINDOW } from "./offline-model.ts";
import { sumUp } from "./sum-up.ts";

const text = Array.from({ length: 1_000 }, (_, i) => `line ${i} ${"x".repeat(200)}`).join("\n");
const exchanges = [{ messages: [userMessage(text)], toolCalls: [] }];

test("the newest lines are kept, each shortened, within a tenth of the window", () => {
  const summary = sumUp(exchanges, 8_000);
  expect(summary).toMatch(/line 999 x{91}…$/);
  expect(summary.length / 4).toBeLessThan(8_000 * 0.1 + 20);
});

test("the offline model sums up without its script, the same each time", async () => {
  const readScript = () => expect.unreachable();
  const model = createOfflineModel({ search: async () => [], delay: async () => {}, readScript });
  const asked = question({ backend: "offline", script: "/s.yaml" }, { exchanges, purpose: "summary" });

  const { blocks } = await model.ask(asked);
  expect(blocks).toEqual([{ type: "text", text: sumUp(exchanges, DEFAULT_WINDOW) }]);
  expect(await model.ask(asked)).toMatchObject({ blocks });
});

test("its window is what the profile says", async () => {
  const model = createOfflineModel({ search: async () => [], delay: async () => {} });
  expect(await model.window!({ name: "a", backend: "offline", fallback: [] })).toBe(DEFAULT_WINDOW);
  expect(await model.window!({ name: "a", backend: "offline", fallback: [], contextWindow: 50 })).toBe(50);
});
