import { assert, constantFrom, property, string, stringMatching, tuple } from "fast-check";
import { expect, test } from "vitest";
import { findMarkedSection, putSection, SECTION_BEGIN, SECTION_END, takeSection } from "./marked-section.ts";

function take(text: string): string | undefined {
  const section = findMarkedSection(text);
  return section.kind === "found" ? takeSection(text, section) : text;
}

const content = stringMatching(/^[a-z#\n ]*$/);
const file = tuple(string(), constantFrom("", "\n", "\r\n", "\n\n", "\r", "text\r\n")).map((parts) =>
  parts.join(""),
);

test("what is put into any file comes out of it to the byte", () => {
  assert(
    property(file, content, content, (text, first, second) => {
      const once = putSection(text, first);
      expect(once.startsWith(text)).toBe(true);
      const twice = putSection(once, second);
      expect(putSection(twice, second)).toBe(twice);
      expect(take(twice)).toBe(text);
    }),
  );
});

test("a file that was made for it goes with it", () => {
  const made = putSection(undefined, "ours");
  expect(made).toBe(`${SECTION_BEGIN}\nours\n${SECTION_END}\n`);
  expect(take(made)).toBeUndefined();
  expect(take(putSection("", "ours"))).toBe("");
});

test("what people write around it stays, and theirs alone is left", () => {
  const text = `${putSection("# Mine\n", "old")}\nbelow\n`;
  const changed = putSection(text, "new");
  expect(changed).toBe(text.replace("old", "new"));
  expect(take(changed)).toBe("# Mine\n\nbelow\n");
});

test("the line ends of the file are those of the section", () => {
  expect(putSection("a\r\n", "x\ny")).toBe(`a\r\n\r\n${SECTION_BEGIN}\r\nx\r\ny\r\n${SECTION_END}\r\n`);
});

test.each([
  ["no end", `a\n${SECTION_BEGIN}\nours\n`, 2],
  ["no beginning", `ours\n${SECTION_END}\n`, 2],
  ["two of them", `${putSection("", "a")}${putSection("", "b")}`, 6],
  ["the wrong order", `${SECTION_END}\n${SECTION_BEGIN}\n`, 2],
])("with %s, which part is ours cannot be said", (_what, text, line) => {
  expect(findMarkedSection(text)).toEqual({ kind: "broken", line });
});

test("a comment within a line is none", () => {
  expect(findMarkedSection(`about ${SECTION_BEGIN} and ${SECTION_END}\n`).kind).toBe("none");
});
