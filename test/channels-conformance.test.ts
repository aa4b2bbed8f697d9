/** What every chat channel has to show, each against its platform as it is played here. */
import { expect, test } from "vitest";

import { conformanceChecks } from "../src/conformance/checks.ts";
import { CONFORMING } from "./support/conforming.ts";

/** `channels-conformance.long.test.ts` has more. */
const KILLS = { messages: 40, places: 8, kills: 2 };

const CHECKS = Object.entries(CONFORMING).flatMap(([channel, start]) =>
  conformanceChecks(channel, start, { kills: KILLS }).map((check) => [channel, check.name, check] as const),
);

test.each(CHECKS)("%s: %s", { timeout: 240_000 }, async (_, __, check) => {
  expect(await check.run()).toBeUndefined();
});
