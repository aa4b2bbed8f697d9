/**
 * An agent whose model obeys whoever wrote the last word cannot do what it may not: send what is the owner's to
 * somebody else, read or change what is not its own, leave something running, or agree to its own calls.
 */
import { expect, test } from "vitest";

import { CALLS, LABOURS } from "./attacks.ts";
import { carryOutAll } from "./carry-out.ts";

test.each(Object.entries(CALLS))("%s: nothing comes of any of them", async (_, family) => {
  expect(await carryOutAll(family)).toEqual([]);
});

test("there are at least 200 attacks, and no two are the same", () => {
  const all = Object.values({ ...CALLS, ...LABOURS }).flatMap(({ attacks, sandbox }) =>
    attacks.map((attack) => JSON.stringify([sandbox, attack.entry, attack.agent, attack.steps])),
  );
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(200);
});
