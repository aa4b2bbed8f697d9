import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { createRedact, MIN_SECRET_LENGTH, type Secret } from "./redact.ts";

const KEY: Secret = { name: "API_KEY", value: `sk/1 "é"\\+\n=?` };

const secret = fc.record({
  name: fc.stringMatching(/^[A-Z]{1,7}$/), // Shorter than any secret: none can be found in a name.
  // What is put in the place of one must not complete another.
  value: fc
    .string({ minLength: MIN_SECRET_LENGTH, maxLength: 40, unit: "binary" })
    .filter((text) => !/[[\]]/.test(text)),
});

/** The ways of writing a text that are known. */
const SPELLINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify({ text }),
  (text) => JSON.stringify({ inner: JSON.stringify({ text }) }),
  (text) => encodeURIComponent(text.toWellFormed()),
  (text) => Buffer.from(text).toString("hex"),
  (text) => Buffer.from(text).toString("base64"),
  (text) => Buffer.from(text).toString("base64url"),
];

test("no secret is left in a text, however it is written and whatever stands around it", () => {
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 5 }),
      fc.array(fc.string({ maxLength: 20 }), { minLength: 2, maxLength: 6 }),
      fc.constantFrom(...SPELLINGS),
      (secrets, around, spell) => {
        const redact = createRedact(secrets);
        const text = around.map((part, at) => part + secrets[at % secrets.length]!.value).join("");
        for (const each of [spell(text), secrets.map(({ value }) => spell(value)).join("")]) {
          const result = redact(each);
          for (const { value } of secrets) {
            expect(result.includes(value)).toBe(false);
            expect(result.includes(spell(value).replaceAll(/^\{"text":"|"\}$/g, ""))).toBe(false);
          }
        }
      },
    ),
  );
});

test("a text without secrets stays as it is", () => {
  fc.assert(
    fc.property(fc.array(secret, { maxLength: 5 }), fc.string({ maxLength: 200 }), (secrets, text) => {
      fc.pre(SPELLINGS.every((spell) => secrets.every(({ value }) => !text.includes(spell(value)))));
      expect(createRedact(secrets)(text)).toBe(text);
    }),
  );
});

describe("a secret", () => {
  test.each([
    ["as it is", KEY.value],
    ["in JSON", JSON.stringify(KEY.value).slice(1, -1)],
    ["in JSON in JSON", JSON.stringify(JSON.stringify(KEY.value)).slice(3, -3)],
    ["in a URL", encodeURIComponent(KEY.value)],
    ["in hexadecimal", Buffer.from(KEY.value).toString("hex")],
    ["in base 64", Buffer.from(KEY.value).toString("base64")],
    ["in base 64 for URLs", Buffer.from(KEY.value).toString("base64url")],
  ])("%s is replaced by its name", (_, text) => {
    expect(createRedact([KEY])(`a ${text} b ${text}`)).toBe("a [API_KEY] b [API_KEY]");
  });

  test("in base 64 is found where something else was encoded along with it", () => {
    const redact = createRedact([{ name: "KEY", value: "sk-0123456789" }]);
    for (const user of ["", "a", "ab", "abc", "somebody"]) {
      const text = Buffer.from(`${user}:sk-0123456789:more`).toString("base64");
      expect(redact(`Basic ${text}`)).toMatch(/^Basic [A-Za-z0-9+/]*\[KEY\][A-Za-z0-9+/]*=*$/);
    }
  });

  test("that holds another goes as a whole, under its own name", () => {
    const secrets = [
      { name: "SHORT", value: "password" },
      { name: "LONG", value: "my password here" },
    ];
    for (const order of [secrets, secrets.toReversed()]) {
      expect(createRedact(order)("it is my password here, a password")).toBe("it is [LONG], a [SHORT]");
    }
  });

  test("that overlaps with another leaves nothing of either", () => {
    const secrets = [
      { name: "A", value: "aaaa-shared" },
      { name: "B", value: "shared-bbbb" },
    ];
    expect(createRedact(secrets)("x aaaa-shared-bbbb y")).toBe("x [A][B] y");
    expect(createRedact([{ name: "C", value: "abababab" }])("ababababab!")).toBe("[C]!");
  });

  test("is not found by what it looks like to a pattern or to a replacement", () => {
    const redact = createRedact([{ name: "$&$1", value: "a.c$&(d)*" }]);
    expect(redact("a.c$&(d)* abcd")).toBe("[$&$1] abcd");
  });

  test("that is short is left where it is", () => {
    expect(createRedact([{ name: "PIN", value: "1234567" }])("1234567")).toBe("1234567");
    expect(createRedact([{ name: "PIN", value: "12345678" }])("12345678")).toBe("[PIN]");
  });
});

test("a long text of nothing but a secret that repeats itself is one hole", () => {
  expect(createRedact([{ name: "A", value: "aaaaaaaa" }])("a".repeat(200_000))).toBe("[A]");
});
