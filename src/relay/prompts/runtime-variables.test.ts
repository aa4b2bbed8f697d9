import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  fillSystemVariables,
  fillVariables,
  findNotReplaced,
  findUnknown,
  usesVariable,
  RUNTIME_VARIABLES,
  type RuntimeValues,
} from "./runtime-variables.ts";

const VALUES: RuntimeValues = {
  input: "the input",
  userMessage: "the message",
  artifactPath: "/w/artifact.md",
  previousOutput: "",
  modifiedFiles: "- a.ts",
  modifiedFilesWithDiff: "",
  currentDateTime: "2026-04-16T18:00:00+08:00",
};

test.each([
  ["{{input}} at {{ currentDateTime }}", "the input at 2026-04-16T18:00:00+08:00"],
  ["{{input}}{{input}}", "the inputthe input"],
  ["[{{previousOutput}}]", "[]"],
  ["{{#if modifiedFiles}}Files:\n{{modifiedFiles}}{{/if}}.", "Files:\n- a.ts."],
  ["{{#if previousOutput}}Before: {{previousOutput}}{{/if}}.", "."],
  ["{{#if input}}a{{#if previousOutput}}b{{/if}}c{{/if}}", "ac"],
  ["{{#if previousOutput}}a{{#if input}}b{{/if}}c{{/if}}d", "d"],
  ["{ {input} } {{}} {{in put}}", "{ {input} } {{}} {{in put}}"],
])("%j becomes %j", (text, expected) => {
  expect(fillVariables(text, VALUES)).toBe(expected);
});

test("what a value holds is not looked at again", () => {
  const values = { ...VALUES, input: "{{userMessage}} {{#if x}} $& $1", userMessage: "secret" };
  expect(fillVariables("<{{input}}>", values)).toBe("<{{userMessage}} {{#if x}} $& $1>");
  const system = { artifactPath: "{{currentDateTime}} $&", currentDateTime: "now" };
  expect(fillSystemVariables("{{artifactPath}}", system)).toBe("{{currentDateTime}} $&");
});

test("system variables are replaced, every other name stays", () => {
  expect(
    fillSystemVariables("{{currentDateTime}} {{artifactPath}} {{input}} {{x}} {{currentDateTime}}", VALUES),
  ).toBe("2026-04-16T18:00:00+08:00 /w/artifact.md {{input}} {{x}} 2026-04-16T18:00:00+08:00");
  expect(findNotReplaced("{{currentDateTime}} {{input}} {{x}} {{#if userMessage}}{{input}}")).toEqual([
    "input",
    "userMessage",
  ]);
});

test("names that are unknown and conditions that do not fit are found with their lines", () => {
  expect(findUnknown("{{input}}\n{{x}} {{#if y}}{{/if}}\n\n{{/if}} {{#if input}}")).toEqual([
    { name: "x", line: 2 },
    { name: "y", line: 2 },
    { name: "/if", line: 4 },
    { name: "#if input", line: 4 },
  ]);
  expect(findUnknown("{{artifact-path}} {{#if user.message}}{{/if}}")).toMatchObject([
    { name: "artifact-path" },
    { name: "user.message" },
  ]);
  expect(
    findUnknown(RUNTIME_VARIABLES.map((name) => `{{#if ${name}}}{{${name}}}{{/if}}`).join("\n")),
  ).toEqual([]);
});

test("a text names a variable as a value or as a condition", () => {
  expect(usesVariable("{{ previousOutput }}", "previousOutput")).toBe(true);
  expect(usesVariable("{{#if previousOutput}}x{{/if}}", "previousOutput")).toBe(true);
  expect(usesVariable("previousOutput {{input}}", "previousOutput")).toBe(false);
});

test("a text without braces comes back as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      fc.pre(!text.includes("{{"));
      expect(fillVariables(text, VALUES)).toBe(text);
      expect(findUnknown(text)).toEqual([]);
    }),
  );
});

test("what is no variable stays as it is, with its conditions", () => {
  const text = "{{theirs}} {{#if theirs}}{{input}}{{/if}} {{#if input}}{{more}}{{/if}} {{/if}}";
  expect(fillVariables(text, VALUES)).toBe(
    `{{theirs}} {{#if theirs}}${VALUES.input}{{/if}} {{more}} {{/if}}`,
  );
});
