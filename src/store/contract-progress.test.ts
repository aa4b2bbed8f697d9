/** What every store promises about the progress of jobs. */
import { describe, expect, test } from "vitest";

import { dispatch, event, session } from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import type { TurnId } from "../model/ids.ts";

const JOB = "reader";

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("the position of a job is the one recorded last, and no other job's", async () => {
    await using opened = await open();
    const { progress } = opened.store;
    expect(await progress.get(JOB)).toBeUndefined();
    await progress.set({ job: JOB, position: 0 });
    expect(await progress.get(JOB)).toBe(0);
    await progress.set({ job: "other", position: 9 });
    await progress.set({ job: JOB, position: 7 });
    expect(await progress.get(JOB)).toBe(7);
  });

  test("an event and the position of the job that found it are one commit", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.events.accept(event("a"), { progress: { job: JOB, position: 3 } });
    expect(await store.progress.get(JOB)).toBe(3);
    await store.events.accept(event("a"), { progress: { job: JOB, position: 4 } });
    expect(await store.progress.get(JOB)).toBe(4);

    const nowhere = { kind: "turn", turn: "nowhere" as TurnId, forkAs: session("fork") } as const;
    const refused = { dispatch: dispatch("b", nowhere), progress: { job: JOB, position: 5 } };
    await expect(store.events.accept(event("b"), refused)).rejects.toMatchObject({ code: "turn_unknown" });
    expect(await store.progress.get(JOB)).toBe(4);
  });
});
