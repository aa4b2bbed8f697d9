import * as fc from "fast-check";
import { expect, test } from "vitest";

import { EVERYTHING } from "../../test/support/tool-context.ts";
import type { Json } from "../model/json.ts";
import { allowsChannel, allowsHost, allowsTool, asksBefore, type Permissions } from "../model/permissions.ts";
import { narrow } from "../personas/permissions.ts";
import { boundBy, narrowingOf, onBehalf } from "./narrowing.ts";

const patterns = fc.array(fc.constantFrom("*", "Read", "Bash", "mcp__*", "a.example", "cli"), {
  maxLength: 3,
});
const permissions: fc.Arbitrary<Permissions> = fc.record({
  tools: fc.record({ allow: fc.array(patterns, { maxLength: 3 }), deny: patterns }),
  ask: patterns,
  roots: fc.subarray(["/a", "/a/b", "/c"]),
  hosts: fc.array(patterns, { maxLength: 3 }),
  channels: fc.array(patterns, { maxLength: 3 }),
  credentials: fc.subarray(["A", "B"]),
  spendUsdPerDay: fc.constantFrom(0, 1, 20, Infinity),
});

const NAMES = ["Read", "Bash", "Write", "mcp__x", "a.example", "b.example", "cli", "web"];

test("a worker has nothing that its caller has not, whatever its own persona may", () => {
  fc.assert(
    fc.property(permissions, permissions, (caller, own) => {
      const worker = narrow(own, JSON.parse(JSON.stringify(narrowingOf(caller))) as Json);
      const more = [
        ...NAMES.filter((name) => allowsTool(worker, name) && !allowsTool(caller, name)),
        ...NAMES.filter((name) => asksBefore(caller, name) && !asksBefore(worker, name)),
        ...NAMES.filter((name) => allowsHost(worker, name) && !allowsHost(caller, name)),
        ...NAMES.filter((name) => allowsChannel(worker, name) && !allowsChannel(caller, name)),
      ];
      expect(more).toEqual([]);
      expect(caller.credentials).toEqual(expect.arrayContaining([...worker.credentials]));
      expect(worker.spendUsdPerDay).toBeLessThanOrEqual(caller.spendUsdPerDay);
      const isWithin = (root: string) =>
        caller.roots.some((each) => root === each || root.startsWith(`${each}/`));
      expect(worker.roots.filter((root) => !isWithin(root))).toEqual([]);
    }),
  );
});

test("the tools of a type are one more list that must agree", () => {
  const worker = narrow(
    EVERYTHING,
    narrowingOf(EVERYTHING, [["Read", "Bash"], ["Read", "Write"], undefined]),
  );
  expect(["Read", "Bash", "Write"].filter((tool) => allowsTool(worker, tool))).toEqual(["Read"]);
});

test("what is passed on again and again does not grow", () => {
  let own = narrow(EVERYTHING, narrowingOf(EVERYTHING, [["Read"]]));
  const first = narrowingOf(own);
  for (let i = 0; i < 10; i++) own = narrow(own, narrowingOf(own));
  expect(narrowingOf(own)).toEqual(first);
});

test("a message acts for whoever began the turn that it is sent from", () => {
  const paired = { authority: "paired", tools: { deny: ["Bash"] } };
  expect(onBehalf([], false, EVERYTHING)).toBeUndefined();
  expect(onBehalf([paired, { ...paired }], true, EVERYTHING)).toEqual(paired);
  expect(onBehalf([paired, { authority: "source" }], true, EVERYTHING)).toEqual(boundBy(EVERYTHING, true));
});

test("whether others have had a say in it goes with it", () => {
  expect(boundBy(EVERYTHING, true)).toMatchObject({ authority: "source" });
  expect(boundBy(EVERYTHING, false)).toMatchObject({ authority: "owner" });
});
