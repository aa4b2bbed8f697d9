import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { configHome } from "../../test/support/config-home.ts";
import { MAX_JSON_DEPTH } from "../model/json.ts";
import { MAX_FILE_BYTES, parseJsonFile, readText } from "./json-file.ts";
import { formatPath, type Problem } from "./problem.ts";

const parse = (text: string) => parseJsonFile("a.json", { text });
const told = ({ source, path, message }: Problem): string => `${source} ${path} ${message}`;

test("comments, trailing commas and an empty file are fine", () => {
  expect(parse('// one\n{ "a": [1, 2,], /* two */ "b": null, }').value).toEqual({ a: [1, 2], b: null });
  for (const text of ["", "  \n", "// nothing yet\n"]) {
    expect(parse(text)).toMatchObject({ value: {}, problems: [] });
  }
});

test("a byte order mark is not part of the text", async () => {
  using home = configHome({ "a.json": '\uFEFF{"a": 1}' });
  expect(await readText(home.folder, "a.json")).toEqual({ text: '{"a": 1}' });
});

test("a file that is not there is no problem", async () => {
  using home = configHome();
  expect(await readText(home.folder, "a.json")).toBeUndefined();
  expect(await readText(join(home.path, "nowhere"), "a.json")).toBeUndefined();
});

test("keys and values are found on their lines", () => {
  const file = parse('{\n  "a": {\n    "b": [\n      10, 20]\n  }\n}');
  expect(file.position(["a", "b"], "key")).toEqual({ line: 3, column: 5 });
  expect(file.position(["a", "b"])).toEqual({ line: 3, column: 10 });
  expect(file.position(["a", "b", 1])).toEqual({ line: 4, column: 11 });
  expect(file.position([])).toEqual({ line: 1, column: 1 });
  expect(file.position(["a", "c"])).toBeUndefined();
});

test.each([
  ['{\n  "a": 1\n  "b": 2,\n  c: 3\n}', "a.json:3:3  invalid JSON: missing comma"],
  ["{\n  c: 3\n}", "a.json:2:3  invalid JSON: unquoted word"],
  ['{ "a": "b }', "a.json:1:8  invalid JSON: unterminated string"],
  ['{ "a": }', "a.json:1:8  invalid JSON: missing value"],
  ["{} {}", "a.json:1:4  invalid JSON: unexpected content after the end"],
])("of %j, the first thing that is not JSON is named with its place", (text, expected) => {
  const { value, problems } = parse(text);
  expect(value).toEqual({});
  expect(problems.map(told)).toEqual([expected]);
});

test("a key that duplicate key is a problem where it stands the second time", () => {
  const { problems } = parse('{ "a": { "b": 1,\n "b": 2 } }');
  expect(problems.map(told)).toEqual(["a.json:2:2 a.b duplicate key"]);
});

test("a key that would change what an object is is refused", () => {
  const { value, problems } = parse('{ "__proto__": { "admin": true } }');
  expect(problems.map(told)).toEqual(["a.json:1:3 __proto__ reserved name"]);
  expect((value as { admin?: boolean }).admin).toBeUndefined();
});

test("nesting has a limit, and neither text nor comments count towards it", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  expect(parse(nested(MAX_JSON_DEPTH)).problems).toEqual([]);
  expect(parse(nested(MAX_JSON_DEPTH + 1)).problems[0]!.message).toBe("nested more than 200 levels deep");
  expect(parse("[".repeat(500_000)).problems).toHaveLength(1);
  const brackets = "[".repeat(MAX_JSON_DEPTH + 1);
  expect(parse(`{ "a": "${brackets}" } // ${brackets}`).problems).toEqual([]);
});

test("a file that is too large, a folder or not UTF-8 is a problem", async () => {
  using home = configHome({
    "full.json": " ".repeat(MAX_FILE_BYTES),
    "large.json": " ".repeat(MAX_FILE_BYTES + 1),
  });
  mkdirSync(join(home.folder, "folder.json"));
  writeFileSync(join(home.folder, "latin.json"), Buffer.from([0x22, 0xe4, 0x22]));
  const problem = async (name: string): Promise<string | undefined> => {
    const read = await readText(home.folder, name);
    return read !== undefined && "problem" in read ? told(read.problem) : undefined;
  };
  expect(await problem("full.json")).toBeUndefined();
  expect(await problem("large.json")).toBe("large.json  1048577 bytes exceed the limit of 1048576");
  expect(await problem("folder.json")).toBe("folder.json  not a file");
  expect(await problem("latin.json")).toBe("latin.json  not valid UTF-8");
  expect(await problem("full.json/x")).toBe("full.json/x  cannot read it (ENOTDIR)");
});

test.skipIf(process.getuid?.() === 0)("a file without permission to read is a problem", async () => {
  using home = configHome({ "secret.json": "{}" });
  chmodSync(join(home.folder, "secret.json"), 0);
  expect(await readText(home.folder, "secret.json")).toMatchObject({
    problem: { message: "cannot read it (EACCES)" },
  });
});

test("every JSON value is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value, null, 1);
      fc.pre(!text.includes('"__proto__"'));
      expect(parse(text).value).toEqual(JSON.parse(text));
    }),
  );
});

test("every text is read without an exception", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from('{}[]:,"\\/* \na1-.')) }), (text) => {
      expect(parse(text).name).toBe("a.json");
    }),
  );
});

test("a name with unusual characters is written so that its path stays readable", () => {
  expect(formatPath(["profiles", "gpt-4.1", "fallback", 0])).toBe('profiles["gpt-4.1"].fallback[0]');
});
