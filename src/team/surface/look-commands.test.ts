import { expect, test } from "vitest";

import type { TeamView } from "./schemas.ts";
import { viewWithoutTime } from "./look-commands.ts";

test("a team in which only time has passed is the same, and one in which somebody went down is not", () => {
  const view = (at: string, state: string, ageMs: number): TeamView =>
    ({
      root: "/team",
      at,
      members: [{ slug: "a", liveness: { state, ageMs }, tasks: [{ title: "Do it", forMs: ageMs }] }],
    }) as unknown as TeamView;
  const before = viewWithoutTime(view("2026-03-28T10:00:00.000Z", "fresh", 1));
  expect(viewWithoutTime(view("2026-03-28T10:00:15.000Z", "fresh", 15_001))).toBe(before);
  expect(viewWithoutTime(view("2026-03-28T10:31:00.000Z", "down", 1_860_001))).not.toBe(before);
});
