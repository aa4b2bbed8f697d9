/**
 * What a stranger wrote, and what is private, keep their labels wherever they go: from one conversation into another by
 * files, commands and people, after a restart and from a backup.
 */
import { expect, test } from "vitest";

import { findSandbox } from "../support/sandbox.ts";
import { carryAcross } from "./carry-across.ts";
import { CROSSINGS } from "./crossings.ts";

const found = await findSandbox("crossings by commands in the sandbox");

test.for(Object.entries(CROSSINGS))("%s: nothing comes of any of them", async ([, family], { skip }) => {
  skip(family.scene?.sandbox === "there" && found === undefined, "no sandbox");
  expect(await carryAcross(family)).toEqual([]);
});
