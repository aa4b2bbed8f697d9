/** The pages that are made from the code, and the list of all pages. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

import { DOCS, generatePages } from "../docs/build/generate.ts";
import { fieldsOf, type JsonSchema } from "../docs/build/json-schema.ts";
import { PAGES } from "../docs/build/pages.ts";
import type { Command } from "../src/feature/command.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { cortexSchema } from "../src/config/cortex-schema.ts";
import { SETTINGS } from "../src/config/overrides.ts";
import { profilesSchema } from "../src/config/profiles-schema.ts";
import { TEAM_KEYS } from "../src/config/team-settings.ts";
import { templateOf } from "../src/server/openapi.ts";
import { FEATURES } from "../src/runtime/features.ts";
import { loadRoutes } from "../src/server/routes.ts";

function readPage(file: string): string {
  return readFileSync(join(DOCS, file), "utf8");
}

test("the generated pages are as `npm run docs` writes them", async () => {
  for (const [file, text] of await generatePages()) expect([file, readPage(file)]).toEqual([file, text]);
});

test("every page is in the list of pages, and every page of the list is there", () => {
  const files = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".md"),
  );
  expect([...PAGES].toSorted()).toEqual(files.toSorted());
});

test("every command has a section, with all of its options and examples", () => {
  const page = readPage("reference/cli.md");
  const check = (entries: readonly Command[], parent: string): void => {
    for (const { usage, options = [], examples = [], commands = [] } of entries) {
      const name = `${parent} ${usage.split(" ")[0]}`;
      const section = page.split(`# \`${name}\`\n`)[1]?.split(/^##/m)[0];
      expect([name, section]).toEqual([name, expect.any(String)]);
      for (const [flags] of options) expect(section).toContain(`\`${flags}\``);
      for (const example of examples) expect(section).toContain(`\n${example}\n`);
      check(commands, name);
    }
  };
  check(COMMANDS, "cortex");
});

test.each([
  ["cortex.json", cortexSchema],
  ["profiles.json", profilesSchema],
])("every key of %s has a row that says what it is", (_, schema) => {
  const page = readPage("reference/config.md");
  const keys = fieldsOf(z.toJSONSchema(schema, { io: "input", target: "draft-7" }) as JsonSchema)
    .map(({ path }) => path.replaceAll(/<\w+>/g, schema === cortexSchema ? "<id>" : "<name>"))
    .filter((path) => path !== "$schema");
  expect(keys.length).toBeGreaterThan(15);
  const described = new Set(Array.from(page.matchAll(/^\| `([^`]+)` .*\| \S.* \|$/gm), ([, key]) => key));
  expect(keys.filter((key) => !described.has(key))).toEqual([]);
});

test("every variable and every key of the team has a row", () => {
  const page = readPage("reference/config.md");
  for (const name of [...SETTINGS.map(({ variable }) => variable), ...TEAM_KEYS])
    expect(page).toContain(`\n| \`${name}\` `);
});

test("every route has a section", async () => {
  const page = readPage("reference/http.md");
  const { routes } = await loadRoutes(FEATURES);
  for (const { method, path } of routes)
    expect(page).toContain(`\n### \`${method.toUpperCase()} ${templateOf(path)}\`\n`);
});
