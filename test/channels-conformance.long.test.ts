/** Many messages in many places, and a kill about every 200 ms that a server is at work. */
import { expect, test } from "vitest";

import { conformanceChecks } from "../src/conformance/checks.ts";
import { BOARDS, conformBoard } from "./support/boards.ts";
import { CONFORMING } from "./support/conforming.ts";

const KILLS = { messages: 1_000, places: 50, kills: 40 };
/** The package `emulate`, which plays Slack's Web API, refuses everything after 5,000 requests. */
const SLACK_KILLS = { messages: 200, places: 10, kills: 6 };

test.each(Object.entries(CONFORMING))(
  "%s loses and doubles nothing while it is killed",
  { timeout: 1_200_000 },
  async (channel, start) => {
    const check = conformanceChecks(channel, start, {
      kills: channel === "slack" ? SLACK_KILLS : KILLS,
    }).find(({ name }) => name.includes("killed"))!;
    expect(await check.run()).toBeUndefined();
  },
);

test.each(Object.entries(BOARDS))(
  "the example of a %s keeps all promises of a channel",
  { timeout: 600_000 },
  async (_, use) => {
    const outcomes = await conformBoard(use, "all");
    expect(outcomes.filter(({ problem }) => problem !== null)).toEqual([]);
    expect(outcomes).toHaveLength(16);
  },
);
