import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configHome } from "../../test/support/config-home.ts";
import { keysOf, type Schema } from "../../test/support/schema-keys.ts";
import { writeSchemas } from "./write-schemas.ts";

test("the schemas stand beside the files, and nothing else is left", async () => {
  using home = configHome();
  await writeSchemas(home.path);
  expect(readdirSync(home.folder).toSorted()).toEqual(["cortex.schema.json", "profiles.schema.json"]);
  expect(read(home.folder, "cortex.schema.json").properties).toMatchObject({
    store: { enum: ["sqlite"], default: "sqlite" },
    server: { properties: { port: { type: "integer", default: 4747 } }, additionalProperties: false },
    broker: { properties: { queue: { properties: { mode: { type: "string", default: "steer-backlog" } } } } },
  });
});

test.each(["cortex.schema.json", "profiles.schema.json"])("every key of %s is described", async (name) => {
  using home = configHome();
  await writeSchemas(home.path);
  const keys = keysOf(read(home.folder, name), name);
  expect(keys).not.toEqual([]);
  expect(keys.filter(({ description }) => description === undefined)).toEqual([]);
});

test("a schema that is as it should be is not touched, another is replaced", async () => {
  using home = configHome();
  await writeSchemas(home.path);
  writeFileSync(join(home.folder, "profiles.schema.json"), "{}");
  const files = (): bigint[] =>
    ["cortex.schema.json", "profiles.schema.json"].map(
      (name) => statSync(join(home.folder, name), { bigint: true }).ino,
    );
  const before = files();
  await writeSchemas(home.path);
  const after = files();
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(read(home.folder, "profiles.schema.json").properties).toHaveProperty("defaultProfile");
});

test("a home in which no folder can be made is an error", async () => {
  using home = configHome({ occupied: "" });
  await expect(writeSchemas(join(home.folder, "occupied"))).rejects.toMatchObject({
    code: "home_unwritable",
  });
});

function read(folder: string, name: string): Schema {
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as Schema;
}
