/** The same for programs, and for calls that are too much: see attacks.test.ts. */
import { afterAll, expect, test, vi } from "vitest";

import { findSandbox } from "../support/sandbox.ts";
import { LABOURS } from "./attacks.ts";
import { carryOutAll } from "./carry-out.ts";

// OpenAI's client complains of calls that are no JSON to the console.
const complaints = vi.spyOn(console, "error").mockReturnValue();
afterAll(() => complaints.mockRestore());

const found = await findSandbox("attacks by programs in the sandbox");

test.for(Object.entries(LABOURS))("%s: nothing comes of any of them", async ([, family], { skip }) => {
  skip(family.sandbox === "there" && found === undefined, "no sandbox");
  expect(await carryOutAll(family)).toEqual([]);
});
