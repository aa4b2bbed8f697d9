import * as fc from "fast-check";
import { expect, test } from "vitest";

import { canonicalJson, MAX_JSON_DEPTH } from "./json.ts";

test.each([
  [null, "null"],
  [true, "true"],
  [1.5, "1.5"],
  [1e21, "1e+21"],
  ['a"b\n', '"a\\"b\\n"'],
  [[], "[]"],
  [{}, "{}"],
  [{ b: 1, a: [2, { d: null, c: "x" }] }, '{"a":[2,{"c":"x","d":null}],"b":1}'],
  [{ 10: "a", 9: "b", "": "c" }, '{"":"c","10":"a","9":"b"}'],
  [{ a: undefined, b: 1 }, '{"b":1}'],
  [[undefined, 1], "[null,1]"],
  [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  [undefined, "null"],
  [Number.NaN, "null"],
  ["\ud83d", '"\\ud83d"'],
])("%j is written %s", (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test("a hole in a list is null, as in JSON.stringify", () => {
  const list: unknown[] = [1];
  list[2] = 3;
  expect(canonicalJson(list)).toBe("[1,null,3]");
});

test("a key that is called __proto__ is a key like others", () => {
  const text = '{"__proto__":{"a":1},"b":2}';
  expect(canonicalJson(JSON.parse(text))).toBe(text);
});

test("what is written reads back as an equal value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value)); // -0 is 0 in JSON
      expect(JSON.parse(canonicalJson(value))).toEqual(plain);
    }),
    { numRuns: 1000 },
  );
});

test("the order in which keys were added does not matter, at any depth", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(withKeysReversed(value))).toBe(canonicalJson(value));
    }),
  );
});

test("different values have different texts", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const equal = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      expect(canonicalJson(one) === canonicalJson(other)).toBe(equal);
    }),
  );
});

test("a value may be nested as deep as the limit, and not deeper", () => {
  expect(canonicalJson(nested(MAX_JSON_DEPTH))).toHaveLength(2 * MAX_JSON_DEPTH + 1);
  expect(() => canonicalJson(nested(MAX_JSON_DEPTH + 1))).toThrow(`more than ${MAX_JSON_DEPTH} levels deep`);
});

test("a value far too deep, or within itself, is refused and overflows no stack", () => {
  const deep: unknown = JSON.parse("[".repeat(5000) + "]".repeat(5000));
  expect(() => canonicalJson(deep)).toThrow(`more than ${MAX_JSON_DEPTH} levels deep`);
  const ring: { self?: unknown } = {};
  ring.self = ring;
  expect(() => canonicalJson(ring)).toThrow(`more than ${MAX_JSON_DEPTH} levels deep`);
});

/** 0 within so many lists. */
function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

function withKeysReversed(value: unknown): unknown {
  return mapObjects(value, (entries) => entries.toReversed());
}

function sorted(value: unknown): unknown {
  return mapObjects(value, (entries) => entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

type Entries = readonly (readonly [string, unknown])[];

function mapObjects(value: unknown, reorder: (entries: Entries) => Entries): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, reorder));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => [key, mapObjects(field, reorder)] as const);
  return Object.fromEntries(reorder(entries));
}
