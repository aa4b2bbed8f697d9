import * as fc from "fast-check";
import { parse, type ParseError } from "jsonc-parser";
import { expect, test } from "vitest";

import { insertEntry } from "./insert-entry.ts";

const insert = (text: string): string =>
  insertEntry(text, ["personas", "nova"], { identity: { emoji: "✨" } });

function read(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
}

const NOVA = { identity: { emoji: "✨" } };

test("an entry comes after the others, with its comments beside them, indented as they are", () => {
  const text = `// Mine.
{
    /* Who there is. */
    "personas": {
        // The first.
        "atlas": {} // stays here
        // Nobody else yet.
    },
    "server": { "port": 1 } // the end
}
// really
`;
  expect(insert(text)).toBe(`// Mine.
{
    /* Who there is. */
    "personas": {
        // The first.
        "atlas": {}, // stays here
        // Nobody else yet.
        "nova": {
            "identity": {
                "emoji": "✨"
            }
        }
    },
    "server": { "port": 1 } // the end
}
// really
`);
});

test("lists are written on one line, and what is empty too", () => {
  const value = { tools: ["Read", "a\nb"], permissions: {}, limits: { costUsd: 0.5 } };
  expect(insertEntry("{}", ["agents", "scout"], value)).toBe(`{
  "agents": {
    "scout": {
      "tools": ["Read", "a\\nb"],
      "permissions": {},
      "limits": {
        "costUsd": 0.5
      }
    }
  }
}`);
});

test("whoever writes trailing commas gets one", () => {
  expect(insert(`{\n\t"personas": {\n\t\t"atlas": {}, // one\n\t},\n}\n`)).toBe(
    `{\n\t"personas": {\n\t\t"atlas": {}, // one\n\t\t"nova": {\n\t\t\t"identity": {\n\t\t\t\t"emoji": "✨"\n\t\t\t}\n\t\t},\n\t},\n}\n`,
  );
});

test("where the section is not there, it is made at the end", () => {
  expect(insert(`{\n  "$schema": "x",\n\n  // "agents": {},\n}\n`)).toBe(
    `{\n  "$schema": "x",\n\n  // "agents": {},\n  "personas": {\n    "nova": {\n      "identity": {\n        "emoji": "✨"\n      }\n    }\n  },\n}\n`,
  );
});

test.each(["", "\n", "// nothing yet", "/* nothing\nyet */\n"])(
  "where there is no object, one is made with its schema, below %j",
  (text) => {
    const added = insert(text);
    expect(added.startsWith(text)).toBe(true);
    expect(read(added)).toEqual({ $schema: "./cortex.schema.json", personas: { nova: NOVA } });
  },
);

test.each([
  "{}",
  "{ }",
  '{"personas":{}}',
  '{ "personas": { "atlas": {} } }',
  '{ "personas": { "atlas": {}, /* , */ } }',
  '{ "personas": { "atlas": {} /* , */ , } }',
  '{ "personas": { "atlas": {} // , }\n } }',
  '{ "personas": { // none\n } }',
  '{\r\n  "personas": {\r\n    "atlas": {}\r\n  }\r\n}\r\n',
])("%j stays what it was, with the entry", (text) => {
  const before = read(text) as { personas?: object };
  expect(read(insert(text))).toEqual({ ...before, personas: { ...before.personas, nova: NOVA } });
});

test("lines end as they did", () => {
  const text = '{\r\n  "personas": {\r\n    "atlas": {}\r\n  }\r\n}\r\n';
  expect(insert(text)).not.toMatch(/[^\r]\n/);
});

const comment = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "{", "}", ",", '"', " ") }).map((words) => `// ${words}\n`),
  fc.string({ unit: fc.constantFrom("a", "{", "}", ",", '"', "\n") }).map((words) => `/* ${words} */`),
);
const gap = fc
  .array(fc.oneof(comment, fc.constantFrom(" ", "\n", "\t", "\n  ")), { maxLength: 3 })
  .map((parts) => parts.join(""));
/** An object in JSON with anything between its parts, and a comma at the end or not. */
const object = (inner: fc.Arbitrary<string>, keys: readonly string[]): fc.Arbitrary<string> =>
  fc
    .record({
      chosen: fc.subarray([...keys]),
      values: fc.array(inner, { minLength: keys.length, maxLength: keys.length }),
      gaps: fc.array(gap, { minLength: keys.length * 4 + 1, maxLength: keys.length * 4 + 1 }),
      comma: fc.boolean(),
    })
    .map(({ chosen, values, gaps, comma }) => {
      const next = (): string => gaps.pop() ?? "";
      const members = chosen.map((key, i) => `${next()}"${key}"${next()}:${next()}${values[i]}${next()}`);
      return `{${members.join(",")}${comma && members.length > 0 ? "," : ""}${gaps[0] ?? ""}}`;
    });
const texts = fc
  .tuple(gap, object(object(fc.constant("{}"), ["atlas", "sage"]), ["personas", "agents"]), gap)
  .map((parts) => parts.join(""));

test("of any text, everything but space is still there, in its order, and the entry is in it", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const before = read(text) as { personas?: object };
      const added = insert(text);
      expect(read(added)).toEqual({ ...before, personas: { ...before.personas, nova: NOVA } });
      expect(isSubsequence(text.replaceAll(/\s/g, ""), added.replaceAll(/\s/g, ""))).toBe(true);
      for (const [comment] of text.matchAll(/\/\*.*?\*\/|\/\/[^\n]*/gs))
        expect(added).toContain(comment.trimEnd());
    }),
    { numRuns: 500 },
  );
});

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const character of whole) if (character === part[at]) at++;
  return at === part.length;
}
