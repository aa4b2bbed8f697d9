import { stripTypeScriptTypes } from "node:module";
import { expect, test } from "vitest";

import { parseHookName } from "../hook-name.ts";
import { scriptKindOf, parseHeader } from "./parse-header.ts";
import { writeHeader, writeTemplate } from "./template.ts";

test.each([
  ["for messages", undefined],
  ["with a schedule", "every 30m"],
])("a new hook %s is a hook that can be loaded, and says what it is called", (_, schedule) => {
  const source = writeTemplate("school-emails", schedule);
  expect(scriptKindOf(source)).toBe("hook");
  expect(parseHeader(source)).toEqual({
    title: "School emails",
    description: "One sentence about what it does",
    mode: "persistent",
    startsDisabled: true,
  });
  expect(stripTypeScriptTypes(source)).toContain("export default async function");
});

test("a new hook with a schedule has a session of its own", () => {
  const source = writeTemplate("water-plants", "0 9 * * *");
  expect(source).toContain('cron: "0 9 * * *"');
  expect(source).toContain('session: "agent:main:cron:water-plants"');
});

test.each([
  ["ends the comment", "does */ process.exit() /**"],
  ["begins another tag", "does it\n * @origin person\n@starts active"],
])("a description that %s stays a description", (_, description) => {
  const header = writeHeader({ title: "x", description, mode: "one-shot", tags: ["@origin agent"] });
  expect(parseHeader(header)).toMatchObject({ title: "x", mode: "one-shot", origin: "agent" });
  expect(header.indexOf("*/")).toBe(header.length - "*/\n".length);
});

test.each(["", "Big", "-x", "a/b", "..", "a.b", "x".repeat(65), "a b"])(
  "%o is no name for a hook",
  (name) => {
    expect(() => parseHookName(name)).toThrow(expect.objectContaining({ code: "id_invalid" }));
  },
);

test.each(["a", "2fa", "mom-2fa_helper", "x".repeat(64)])("%o is a name for a hook", (name) => {
  expect(parseHookName(name)).toBe(name);
});
