import {
  assert,
  boolean,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  property,
  record,
  string,
  array,
  constant,
} from "fast-check";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { addPromptHook, newSettings, removePromptHook } from "./prompt-hook.ts";

const COMMAND = ".claude/hooks/cortex-precheck.sh";
const ENTRY = { hooks: [{ type: "command", command: COMMAND }] };

const other = constant({ hooks: [{ type: "command", command: "other.sh" }] });
const settings = oneof(
  dictionary(string(), jsonValue()).filter((value) => !Object.hasOwn(value, "hooks")),
  record({ model: string(), hooks: record({ Stop: array(other) }) }),
  record({ hooks: record({ UserPromptSubmit: array(other), Stop: array(other) }), last: boolean() }),
  record({ hooks: constant({}) }),
);

test("the entry is put into any settings, and comes out of them to the byte", () => {
  assert(
    property(settings, constantFrom(undefined, 2, "\t"), constantFrom("", "\n"), (value, indent, end) => {
      const text = JSON.stringify(value, null, indent) + end;
      const added = addPromptHook(text, COMMAND)!;
      const read = JSON.parse(added) as { hooks: { UserPromptSubmit: unknown[] } };
      expect(read.hooks.UserPromptSubmit.at(-1)).toEqual(ENTRY);
      expect(addPromptHook(added, COMMAND)).toBe(added);
      expect(removePromptHook(added, COMMAND)).toBe(text);
    }),
  );
});

test("comments, trailing commas and odd spaces stay", () => {
  const text = '{\n  // mine\n  "hooks": { "UserPromptSubmit": [ {"hooks": []} , ] },\r\n}\n';
  const added = addPromptHook(text, COMMAND)!;
  expect(parse(added)).toEqual({ hooks: { UserPromptSubmit: [{ hooks: [] }, ENTRY] } });
  expect(removePromptHook(added, COMMAND)).toBe(text);
});

test("after people have changed the file, the entry goes and their changes stay", () => {
  const added = addPromptHook('{"model": "x"}', COMMAND)!;
  const changed = added.replace('"UserPromptSubmit"', '"Stop": [], "UserPromptSubmit"');
  expect(parse(removePromptHook(changed, COMMAND))).toEqual({ model: "x", hooks: { Stop: [] } });
  const formatted = JSON.stringify(JSON.parse(added), null, 4);
  expect(parse(removePromptHook(formatted, COMMAND))).toEqual({
    model: "x",
    hooks: { UserPromptSubmit: [] },
  });
});

test("where people have put it beside their own hook, theirs stays", () => {
  const own = { type: "command", command: "mine.sh" };
  const text = JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [...ENTRY.hooks, own] }] } });
  expect(addPromptHook(text, COMMAND)).toBe(text);
  expect(parse(removePromptHook(text, COMMAND))).toEqual({ hooks: { UserPromptSubmit: [{ hooks: [own] }] } });
});

test("an entry that is there twice goes altogether", () => {
  const twice = JSON.stringify({ hooks: { UserPromptSubmit: [ENTRY, ENTRY] } });
  expect(removePromptHook(twice, COMMAND)).not.toContain(COMMAND);
});

test.each(["", "[]", "{", '{"hooks": []}', '{"hooks": {"UserPromptSubmit": {}}}', '"text"'])(
  "settings that are %j are left alone",
  (text) => {
    expect(addPromptHook(text, COMMAND)).toBeUndefined();
    expect(removePromptHook(text, COMMAND)).toBe(text);
  },
);

test("a new file holds the entry and nothing else", () => {
  expect(JSON.parse(newSettings(COMMAND))).toEqual({ hooks: { UserPromptSubmit: [ENTRY] } });
  expect(addPromptHook(newSettings(COMMAND), COMMAND)).toBe(newSettings(COMMAND));
});
