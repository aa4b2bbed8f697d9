import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configHome } from "../../../test/support/config-home.ts";
import { keysOf, type Schema } from "../../../test/support/schema-keys.ts";
import { writeSchemas } from "../../config/write-schemas.ts";
import { RELAY_SCHEMAS } from "./schema.ts";

const read = (folder: string, name: string): Schema =>
  JSON.parse(readFileSync(join(folder, name), "utf8")) as Schema;

test("the schemas of relays stand beside the others", async () => {
  using home = configHome();
  await writeSchemas(home.path, RELAY_SCHEMAS);
  expect(readdirSync(home.folder)).toEqual(
    expect.arrayContaining(["cortex.schema.json", ...Object.keys(RELAY_SCHEMAS)]),
  );
  expect(read(home.folder, "thread-agent.schema.json")).toMatchObject({
    required: ["profile", "persistSession"],
    additionalProperties: false,
    properties: {
      stages: { additionalProperties: { properties: { continuesSession: { default: false } } } },
    },
  });
});

test.each(Object.keys(RELAY_SCHEMAS))("every key of %s is described", async (name) => {
  using home = configHome();
  await writeSchemas(home.path, RELAY_SCHEMAS);
  const keys = keysOf(read(home.folder, name), name);
  expect(keys).not.toEqual([]);
  expect(keys.filter(({ description }) => description === undefined)).toEqual([]);
});
