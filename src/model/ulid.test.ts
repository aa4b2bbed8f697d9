import * as fc from "fast-check";
import { expect, test } from "vitest";

import { createUlidSource, deriveUlid, isUlid, ulidMs } from "./ulid.ts";

const MAX_TIME_MS = 2 ** 48 - 1;

const zeros = (bytes: Uint8Array): void => void bytes.fill(0);
const ones = (bytes: Uint8Array): void => void bytes.fill(255);

/** A clock that gives these times one after the other, and then the last one for ever. */
function clockOf(...times: readonly number[]): () => number {
  let calls = 0;
  return () => times[Math.min(calls++, times.length - 1)]!;
}

test("an id has 26 characters of Crockford's alphabet", () => {
  const mint = createUlidSource(() => Date.UTC(2026, 10, 15));
  for (let i = 0; i < 1000; i++) expect(mint()).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
});

test.each([
  [0, "0000000000"],
  [1, "0000000001"],
  [32, "0000000010"],
  [1_469_918_176_385, "01ARYZ6S41"], // the example of the ULID specification
  [MAX_TIME_MS, "7ZZZZZZZZZ"],
])("an id of the millisecond %i begins with %s", (ms, time) => {
  expect(createUlidSource(() => ms)().slice(0, 10)).toBe(time);
});

test("a fraction of a millisecond does not matter", () => {
  expect(createUlidSource(() => 32.9)().slice(0, 10)).toBe("0000000010");
});

test("within a millisecond the random part counts up", () => {
  const mint = createUlidSource(() => 0, zeros);
  expect([mint(), mint(), mint()]).toEqual([
    "00000000000000000000000000",
    "00000000000000000000000001",
    "00000000000000000000000002",
  ]);
});

test("counting up carries into the next digit", () => {
  const mint = createUlidSource(
    () => 0,
    (bytes) => void bytes.fill(0).fill(31, 14),
  );
  expect([mint(), mint()]).toEqual(["000000000000000000000000ZZ", "00000000000000000000000100"]);
});

test("every millisecond draws its random part anew", () => {
  let draws = 0;
  const mint = createUlidSource(clockOf(1, 1, 2, 2, 3), (bytes) => void bytes.fill(draws++));
  expect(Array.from({ length: 5 }, mint)).toEqual([
    "00000000010000000000000000",
    "00000000010000000000000001",
    "00000000021111111111111111",
    "00000000021111111111111112",
    "00000000032222222222222222",
  ]);
});

test("while the clock is behind the newest id, that id is counted up", () => {
  const mint = createUlidSource(clockOf(100, 50, 99, 100, 101), zeros);
  expect(Array.from({ length: 5 }, mint)).toEqual([
    "00000000340000000000000000",
    "00000000340000000000000001",
    "00000000340000000000000002",
    "00000000340000000000000003",
    "00000000350000000000000000",
  ]);
});

test("when the random part is used up, the next id is of the next millisecond", () => {
  const mint = createUlidSource(clockOf(5, 5, 6, 7), ones);
  expect(Array.from({ length: 4 }, mint).map((id) => id.slice(0, 10))).toEqual([
    "0000000005",
    "0000000006",
    "0000000007",
    "0000000008",
  ]);
});

test("whatever the clock does, every id is valid and greater than the one before", () => {
  const times = fc.array(fc.oneof(fc.nat({ max: 20 }), fc.integer({ min: 0, max: MAX_TIME_MS - 1000 })), {
    minLength: 1,
    maxLength: 100,
  });
  fc.assert(
    fc.property(times, fc.constantFrom(undefined, zeros, ones), (times, random) => {
      const mint = createUlidSource(clockOf(...times), random);
      let last = "";
      for (let i = 0; i < times.length + 2; i++) {
        const id = mint();
        expect(isUlid(id)).toBe(true);
        expect(id > last).toBe(true);
        last = id;
      }
    }),
  );
});

test("ids of different milliseconds sort by time, from whatever source they come", () => {
  const time = fc.integer({ min: 0, max: MAX_TIME_MS });
  fc.assert(
    fc.property(time, time, (a, b) => {
      fc.pre(a !== b);
      const idOf = (ms: number): string => createUlidSource(() => ms)();
      expect(idOf(a) < idOf(b)).toBe(a < b);
    }),
  );
});

test("sources with the same clock make different ids", () => {
  const sources = Array.from({ length: 4 }, () => createUlidSource(() => 1));
  const ids = sources.flatMap((mint) => Array.from({ length: 5000 }, mint));
  expect(new Set(ids).size).toBe(20_000);
});

test.each([-1, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY])("a clock that says %d makes no id", (ms) => {
  expect(createUlidSource(() => ms)).toThrow(
    expect.objectContaining({ code: "id_invalid", message: expect.stringContaining(`${ms} ms`) }),
  );
});

test("after the last id that there can be, there is an error and never a smaller id", () => {
  const mint = createUlidSource(() => MAX_TIME_MS, ones);
  expect(mint()).toBe("7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  for (let i = 0; i < 3; i++) expect(mint).toThrow(expect.objectContaining({ code: "id_invalid" }));
});

test.each(["01ARYZ6S41TSV4RRFFQ69G5FAV", "00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"])(
  "%s is a ULID",
  (text) => {
    expect(isUlid(text)).toBe(true);
  },
);

test.each([
  "",
  "01ARYZ6S41TSV4RRFFQ69G5FA",
  "01ARYZ6S41TSV4RRFFQ69G5FAVV",
  "01aryz6s41tsv4rrffq69g5fav",
  "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
  "01ARYZ6S41TSV4RRFFQ69G5FAI",
  "01ARYZ6S41TSV4RRFFQ69G5FAL",
  "01ARYZ6S41TSV4RRFFQ69G5FAO",
  "01ARYZ6S41TSV4RRFFQ69G5FAU",
  "01ARYZ6S41TSV4RRFFQ69G5FAV\n",
])("%j is not a ULID", (text) => {
  expect(isUlid(text)).toBe(false);
});

test("a derived id has the time of the other, and is the same for a key and for no other key", () => {
  const [id, later] = ["01JF6QZ2Z8B0H3F2S9Q6W7X4RD", "01JF6QZ3M3T1N6V1V6F5Y6T2QK"];
  const keys = Array.from({ length: 1000 }, (_, index) => `${id}-${index}`);
  const derived = keys.map((key) => deriveUlid(id, key));
  expect(derived.every((each) => isUlid(each) && each.startsWith("01JF6QZ2Z8"))).toBe(true);
  expect(keys.map((key) => deriveUlid(id, key))).toEqual(derived);
  expect(new Set(derived).size).toBe(1000);
  expect(deriveUlid(later, "a") > deriveUlid(id, "a")).toBe(true);
});

test("the time that an id begins with can be read from it", () => {
  expect(ulidMs(createUlidSource(() => 1_780_000_000_123)())).toBe(1_780_000_000_123);
});
