import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { loadFiles } from "../../test/support/config-home.ts";
import { cortexSchema } from "./cortex-schema.ts";
import { profilesSchema } from "./profiles-schema.ts";

const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

test("the examples of the page are valid, together", async () => {
  const blocks = Array.from(page.matchAll(/```jsonc?\n(.*?)```/gs), ([, text]) => text!);
  const files = blocks.map((text) => [/^\/\/ config\/(\S+)\n/.exec(text)?.[1], text] as const);
  expect(files.map(([name]) => name)).toEqual(["cortex.json", "profiles.json"]);

  const { config } = await loadFiles(Object.fromEntries(files));
  expect(Object.keys(config.agents)).toEqual(["main", "scout"]);
  expect(config.defaultProfile).toBe("work");
});

test.each([
  ["cortex.json", cortexSchema],
  ["profiles.json", profilesSchema],
])("every key of %s is on the page, with its default", (_, schema) => {
  const documented = new Set(
    Array.from(page.matchAll(/^\| `([^`]+)` *\| (?:`([^`]*)`|–) *\|/gm), ([, key, value]) =>
      value === undefined ? key! : `${key} = ${value}`,
    ),
  );
  const keys = keysOf(z.toJSONSchema(schema, { io: "input", target: "draft-7" }) as JsonSchema);
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.filter((key) => !documented.has(key))).toEqual([]);
});

interface JsonSchema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
}

function keysOf({ properties = {} }: JsonSchema, path = ""): string[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    if (key === "$schema") return [];
    if (schema.properties !== undefined) return keysOf(schema, `${path}${key}.`);
    const entry = schema.additionalProperties;
    if (typeof entry === "object" && entry.properties !== undefined) {
      return keysOf(entry, `${path}${key}.<${key === "profiles" ? "name" : "id"}>.`);
    }
    return [schema.default === undefined ? path + key : `${path}${key} = ${JSON.stringify(schema.default)}`];
  });
}
