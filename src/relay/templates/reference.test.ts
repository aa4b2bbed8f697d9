import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { relayHome } from "../../../test/support/relay-home.ts";
import { schemaAt } from "../../config/schema-tree.ts";
import { RUNTIME_VARIABLES } from "../prompts/runtime-variables.ts";

import {
  bindingSchema,
  relayAgentSchema,
  sessionScriptsSchema,
  shellSchema,
  templateSchema,
} from "./schema.ts";

const page = readFileSync(new URL("../../../docs/relay-reference.md", import.meta.url), "utf8");

const SECTIONS: [heading: string, schema: z.ZodType, known: readonly string[]][] = [
  ["Agent", relayAgentSchema, []],
  ["Stage", schemaAt(relayAgentSchema, ["stages", "any"])!, []],
  ["Template", templateSchema, []],
  ["Agent of a template, with overrides", overrideSchema(), []],
  ["Transition", schemaAt(templateSchema, ["transitions", 0])!, []],
  ["Condition", schemaAt(templateSchema, ["transitions", 0, "condition"])!, []],
  ["Script of a hook", schemaAt(templateSchema, ["hooks", "onEnd"])!, []],
  ["Script of a session", schemaAt(sessionScriptsSchema, ["onNew"])!, []],
  ["Shell", shellSchema, Object.keys(templateSchema.shape)],
  ["Binding", bindingSchema, []],
];

test.each(SECTIONS)("every field of %s is on the page, with its default", (heading, schema, known) => {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input", target: "draft-7" });
  const expected = Object.entries(properties)
    .filter(([key]) => key !== "$schema" && !known.includes(key))
    .map(([key, value]) => {
      const fallback = typeof value === "object" ? value.default : undefined;
      if (required.includes(key)) return `${key}: required`;
      return `${key}: ${fallback === undefined ? "–" : `\`${JSON.stringify(fallback)}\``}`;
    });
  const section = page.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;
  const rows = Array.from(
    section.matchAll(/^\| `([^`]+)` *\| (required|–|`[^`]*`) *\|/gm),
    ([, key, value]) => `${key}: ${value}`,
  );
  expect(expected.length).toBeGreaterThan(0);
  expect(rows.toSorted()).toEqual(expected.toSorted());
});

test("every runtime variable is on the page", () => {
  const rows = Array.from(page.matchAll(/^\| `\{\{(\w+)\}\}`/gm), ([, name]) => name!);
  expect(rows.toSorted()).toEqual([...RUNTIME_VARIABLES].toSorted());
});

test("the example of the page is right", async () => {
  const example = /```jsonc\n\/\/ (\S+)\n(.*?)```/s.exec(page)!;
  using home = relayHome({ [example[1]!]: example[2] });
  const { templates, problems, warnings } = await home.read();
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  expect([...templates.keys()]).toEqual(["write-review"]);
});

function overrideSchema(): z.ZodType {
  const member = schemaAt(templateSchema, ["agents", 0]) as z.ZodUnion<z.ZodType[]>;
  return member.options.find((option) => option instanceof z.ZodObject)!;
}
