import { expect, test } from "vitest";

import { DEFAULT_MODE_OF_AGENTS, DEFAULT_MODE_OF_PEOPLE, parseQueueMode, QUEUE_MODES } from "./queue-mode.ts";

test("the modes and their defaults are those of the specification", () => {
  expect(QUEUE_MODES).toEqual(["steer", "steer-backlog", "followup", "queue", "collect", "interrupt"]);
  expect(DEFAULT_MODE_OF_PEOPLE).toBe("steer-backlog");
  expect(DEFAULT_MODE_OF_AGENTS).toBe("followup");
});

test.each(QUEUE_MODES)("%s is read as it is", (mode) => {
  expect(parseQueueMode(mode)).toBe(mode);
});

test.each([
  ["Steer", "steer"],
  [" collect\n", "collect"],
  ["steer+backlog", "steer-backlog"],
  ["STEER+BACKLOG", "steer-backlog"],
])("%j means %s", (text, mode) => {
  expect(parseQueueMode(text)).toBe(mode);
});

test.each(["", "steering", "steer backlog", "queue,collect", "toString"])("%j is not a mode", (text) => {
  expect(() => parseQueueMode(text)).toThrow(
    expect.objectContaining({
      code: "queue_mode_unknown",
      message: expect.stringContaining(`"${text}"`),
      hint: expect.stringContaining("steer-backlog"),
    }),
  );
});
