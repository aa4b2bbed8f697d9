import { expect, onTestFinished, test, vi } from "vitest";

import { MEMBER, playedTeam } from "../../../test/support/played-team.ts";
import { PATIENT } from "../../../test/support/server.ts";

test("work that could not be resumed is retried a little later", PATIENT, async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await using team = await playedTeam("## Long\n**Status:** ready\n\nDo it.\n", () => ({ says: "done it" }));
  const { store, root } = team;
  const work = { title: "Long", ordinal: 1, started: "2026-03-28T10:00", id: "work-1" };
  await store.team.keep({ team: root, member: MEMBER, state: { work } });
  let failures = 1;
  const place = team.place();
  const edit = place.team.folder.editFrom.bind(place.team.folder);
  place.team.folder.editFrom = async (...args) => {
    if (failures-- > 0) throw new Error("The disk is full");
    return edit(...args);
  };
  await using workers = team.employ(place);

  await workers.recover();
  await expect.poll(() => team.problems, PATIENT).toHaveLength(1);
  expect(team.tasks()).toContain("**Status:** ready");

  vi.runOnlyPendingTimers();
  await expect.poll(() => team.tasks(), PATIENT).toContain("**Status:** done");
});
