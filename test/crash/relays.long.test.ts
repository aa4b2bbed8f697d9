import { expect, test } from "vitest";

import { killRelays } from "./relays.ts";

const RELAYS = 6;
const KILLS = 3;

test("relays go on after each kill, and no step is lost or done twice", { timeout: 120_000 }, async () => {
  const report = await killRelays({ relays: RELAYS, kills: KILLS, seed: 1 });
  expect(report).toEqual({ kills: KILLS, relays: RELAYS, steps: RELAYS * 10, problems: [] });
});
