import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  addedTrust,
  isDeniedToAuthor,
  isWithin,
  joinLabels,
  joinTrust,
  mayTell,
  needsConsent,
  parseTrust,
  trustJson,
  type Label,
  type ToolTrust,
  type Trust,
} from "./trust.ts";

const NAMES = Array.from({ length: 90 }, (_, index) => `p${index}`);
const TOOLS = ["Read", "Bash", "WebFetch", "Write"];
const OUTWARD: ToolTrust = { outward: true };

/** Of every length alike, so that limits are met. */
const some = (from: readonly string[], maxLength: number): fc.Arbitrary<string[]> =>
  fc.shuffledSubarray([...from], { maxLength }).map((list) => list.toSorted());
const trusts = (most: number): fc.Arbitrary<Trust> =>
  fc.record({
    untrusted: some(["owner", ...NAMES], most),
    private: some(["owner", ...NAMES], most),
    denied: some([...TOOLS, "!Read,Write", ...NAMES], most),
    outward: fc.boolean(),
  });
const few = trusts(5);
const many = trusts(64);

const isDenied = (label: Label, tool: string): boolean =>
  isDeniedToAuthor(label, (pattern) => pattern === "*" || pattern === tool);

/** What a label permits that another one forbids. */
function laxities(label: Label, other: Label): string[] {
  return [
    ...[...NAMES, "others"].filter((audience) => mayTell(label, audience) && !mayTell(other, audience)),
    ...TOOLS.filter((tool) => !isDenied(label, tool) && isDenied(other, tool)),
    ...(!needsConsent(label, OUTWARD) && needsConsent(other, OUTWARD) ? ["outward calls"] : []),
  ];
}

test("joining is commutative, associative and idempotent", () => {
  fc.assert(
    fc.property(few, few, few, (a, b, c) => {
      expect(joinTrust(a, b)).toEqual(joinTrust(b, a));
      expect(joinTrust(joinTrust(a, b), c)).toEqual(joinTrust(a, joinTrust(b, c)));
      expect(joinTrust(a, a)).toEqual(a);
      expect(isWithin(a, joinLabels(a, b))).toBe(true);
    }),
  );
});

test("what one label forbids, every join with it forbids, however many names it has", () => {
  fc.assert(
    fc.property(fc.array(many, { minLength: 1, maxLength: 4 }), (all) => {
      const joined = joinTrust(...all);
      expect(all.flatMap((one) => laxities(joined, one))).toEqual([]);
    }),
  );
});

test("a session that is given what a join adds forbids all that either forbids", () => {
  fc.assert(
    fc.property(many, many, (known, brought) => {
      const added = addedTrust(known, brought);
      const after = added === undefined ? known : merged(known, added);
      expect([...laxities(after, known), ...laxities(after, brought)]).toEqual([]);
      expect(addedTrust(after, brought)).toBeUndefined();
    }),
  );
});

test("a label is read as it was stored", () => {
  fc.assert(
    fc.property(many, (trust) => {
      expect(parseTrust(trustJson(trust))).toEqual(trust);
    }),
  );
});

/** As the settings of a session are: name by name. */
function merged(known: Trust, added: Trust): Trust {
  const both = (set: "untrusted" | "private" | "denied"): Record<string, true> =>
    Object.fromEntries([...known[set], ...added[set]].map((name) => [name, true as const]));
  return parseTrust({
    untrusted: both("untrusted"),
    private: both("private"),
    denied: both("denied"),
    outward: known.outward || added.outward,
  });
}
