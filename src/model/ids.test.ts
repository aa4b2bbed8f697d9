import { expect, test } from "vitest";

import { parseAgentId } from "./ids.ts";

test.each([
  ["main", "main"],
  ["Atlas", "atlas"],
  ["9", "9"],
  ["code_reviewer-2", "code_reviewer-2"],
  ["x".repeat(64), "x".repeat(64)],
])("%s is the agent %s", (text, id) => {
  expect(parseAgentId(text)).toBe(id);
});

test.each(["", "-a", "_a", "a b", "a:b", "a.b", "é", "a\n", "x".repeat(65)])(
  "%j is not an agent id",
  (text) => {
    expect(() => parseAgentId(text)).toThrow(
      expect.objectContaining({ code: "id_invalid", message: expect.stringContaining(`"${text}"`) }),
    );
  },
);
