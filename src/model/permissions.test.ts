import { relative } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { EVERYTHING } from "../../test/support/tool-context.ts";
import {
  allowsChannel,
  allowsHost,
  allowsTool,
  asksBefore,
  intersectPermissions,
  matches,
  type Permissions,
} from "./permissions.ts";

test.each<[allow: string[][], deny: string[], boolean]>([
  [[["*"]], [], true],
  [[], [], true],
  [[[]], [], false],
  [[["Read"]], [], true],
  [[["Write"]], [], false],
  [[["Read"], ["Write"]], [], false],
  [[["Read"], ["R*", "Write"]], [], true],
  [[["R*", "Write"]], [], true],
  [[["*d"]], [], true],
  [[["R*d"]], [], true],
  [[["Re*ad"]], [], true],
  [[["Rea*ead"]], [], false],
  [[["*e*a*"]], [], true],
  [[["*a*e*"]], [], false],
  [[["read"]], [], false],
  [[["R.ad"]], [], false],
  [[["*"]], ["Read"], false],
  [[["Read"]], ["*"], false],
  [[["*"]], ["mcp__*"], true],
])("with %j allowed and %j denied, whether Read is allowed is %s", (allow, deny, allowed) => {
  expect(allowsTool({ ...EVERYTHING, tools: { allow, deny } }, "Read")).toBe(allowed);
});

test.each<[hosts: string[][], host: string, boolean]>([
  [[["*"]], "example.com", true],
  [[["example.com"]], "EXAMPLE.com", true],
  [[["example.com"]], "www.example.com", false],
  [[["*.example.com"]], "www.example.com", true],
  [[["*.example.com"]], "example.com", false],
  [[["*.example.com"]], "www.example.com.evil.net", false],
  [[["*"], ["example.com"]], "evil.net", false],
  [[[]], "example.com", false],
])("with the hosts %j, whether %s can be reached is %s", (hosts, host, allowed) => {
  expect(allowsHost({ ...EVERYTHING, hosts }, host)).toBe(allowed);
});

const word = fc.string({ unit: fc.constantFrom("a", "b", "_"), maxLength: 6 });
const pattern = fc.string({ unit: fc.constantFrom("a", "b", "_", "*"), maxLength: 6 });

test("a pattern without a star is the name itself", () => {
  fc.assert(
    fc.property(word, word, (only, name) => {
      expect(matches([only], name)).toBe(only === name);
    }),
  );
});

test("a star stands for any characters", () => {
  fc.assert(
    fc.property(pattern, word, (stars, name) => {
      expect(matches([stars], name)).toBe(new RegExp(`^${stars.replaceAll("*", ".*")}$`).test(name));
    }),
    { numRuns: 1_000 },
  );
});

const patterns = fc.array(pattern, { maxLength: 3 });
const lists = fc.array(patterns, { maxLength: 3 });
const path = fc
  .array(fc.constantFrom("a", "b", "..a"), { maxLength: 3 })
  .map((parts) => `/${parts.join("/")}`);
const permissions: fc.Arbitrary<Permissions> = fc.record({
  tools: fc.record({ allow: lists, deny: patterns }),
  ask: patterns,
  roots: fc.array(path, { maxLength: 3 }),
  hosts: lists,
  channels: lists,
  credentials: fc.array(word, { maxLength: 3 }),
  spendUsdPerDay: fc.nat(),
});
const questions = fc.record({ name: word, path, usd: fc.nat() });

/** All that can be asked of permissions, and what they say to it: true is a yes. */
function answers(given: Permissions, asked: { name: string; path: string; usd: number }) {
  return {
    tool: allowsTool(given, asked.name),
    unasked: !asksBefore(given, asked.name),
    host: allowsHost(given, asked.name),
    channel: allowsChannel(given, asked.name),
    credential: given.credentials.includes(asked.name),
    path: given.roots.some((root) => !/^\.\.(\/|$)/.test(relative(root, asked.path))),
    spend: asked.usd < given.spendUsdPerDay,
  };
}

test("an intersection allows what both sides allow, and nothing more", () => {
  fc.assert(
    fc.property(permissions, permissions, questions, (a, b, asked) => {
      const [one, other] = [answers(a, asked), answers(b, asked)];
      const both = Object.entries(one).map(([key, yes]) => [key, yes && other[key as keyof typeof other]]);
      expect(answers(intersectPermissions(a, b), asked)).toEqual(Object.fromEntries(both));
    }),
    { numRuns: 1_000 },
  );
});

test("in which order permissions were narrowed makes no difference", () => {
  fc.assert(
    fc.property(permissions, permissions, permissions, questions, (a, b, c, asked) => {
      const left = intersectPermissions(intersectPermissions(a, b), c);
      const right = intersectPermissions(a, intersectPermissions(b, c));
      const turned = intersectPermissions(c, intersectPermissions(b, a));
      expect(answers(left, asked)).toEqual(answers(right, asked));
      expect(answers(left, asked)).toEqual(answers(turned, asked));
    }),
  );
});

test("what is denied is not allowed by anything", () => {
  fc.assert(
    fc.property(permissions, permissions, word, (a, b, name) => {
      const { tools } = intersectPermissions(a, b);
      const isDenied = matches(a.tools.deny, name);
      expect(isDenied && allowsTool({ ...EVERYTHING, tools }, name)).toBe(false);
    }),
  );
});
