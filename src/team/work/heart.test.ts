import { expect, test } from "vitest";

import { MEMBER, playedTeam } from "../../../test/support/played-team.ts";
import { PATIENT } from "../../../test/support/server.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { readMemberState } from "./member-state.ts";

test("heartbeats follow each other by themselves, also after one that failed, until they are ended", async () => {
  await using team = await playedTeam("## Long\n**Status:** ready\n\nDo it.\n", () => ({ says: "" }));
  const { clock, store, root } = team;
  const lookedMs = async () => readMemberState((await store.team.get(root, MEMBER))?.state).tickMs;
  let isUnreadable = false;
  const heart = team.live(() => isUnreadable);
  await heart.start();
  await expect.poll(lookedMs, PATIENT).toBe(clock());

  isUnreadable = true;
  clock.advance(MINUTE_MS);
  await expect.poll(() => team.problems.length, PATIENT).toBeGreaterThan(0);
  isUnreadable = false;
  await expect.poll(lookedMs, PATIENT).toBe(clock());

  clock.advance(MINUTE_MS);
  await expect.poll(lookedMs, PATIENT).toBe(clock());

  const lastMs = clock();
  await heart[Symbol.asyncDispose]();
  clock.advance(MINUTE_MS);
  heart.lookAgain();
  expect(await lookedMs()).toBe(lastMs);
});
