import { expect, test } from "vitest";

import type { Invocation } from "./command.ts";
import { momentOf } from "./moment.ts";
import { createPrinter } from "../terminal/print.ts";

const NOW_MS = Date.parse("2026-03-01T12:00:00Z");

function read(since?: string): number | undefined {
  const print = createPrinter({ json: true, quiet: true, color: false, inWords: String });
  const given: Invocation = {
    home: "",
    args: [],
    words: [],
    options: { since },
    environment: {},
    toolNames: [],
    agentFolders: async () => [],
    channelModules: new Map(),
    print,
  };
  return momentOf(given, "since", NOW_MS);
}

test("a moment is a date, a time, or how long ago it was", () => {
  expect(read()).toBeUndefined();
  expect(read("30m")).toBe(NOW_MS - 30 * 60_000);
  expect(read("12h")).toBe(NOW_MS - 12 * 3_600_000);
  expect(read("7d")).toBe(NOW_MS - 7 * 24 * 3_600_000);
  expect(read("2w")).toBe(NOW_MS - 14 * 24 * 3_600_000);
  expect(read("2026-02-03T04:05:06Z")).toBe(Date.UTC(2026, 1, 3, 4, 5, 6));
  expect(read("2026-02-03")).toBe(new Date(2026, 1, 3).getTime());
  expect(read("2026-02-03 04:05")).toBe(new Date(2026, 1, 3, 4, 5).getTime());
});

test.each(["", "yesterday", "7", "7y", "-1d", "2026", "2026-13-01", "03/01/2026"])(
  "%j is no moment",
  (said) => {
    expect(() => read(said)).toThrow(
      expect.objectContaining({ code: "usage", message: `Invalid time "${said}"` }),
    );
  },
);
