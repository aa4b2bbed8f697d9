import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { addShippedRelays, writeRelaySchemas } from "./shipped-files.ts";
import { TOOL_NAMES } from "../../runtime/features.ts";
import { readRelays } from "./read-home.ts";

function newHome() {
  const home = temporaryFolder();
  mkdirSync(join(home.path, "config"));
  return home;
}

test("a new home gets four templates that are right, with their agents and prompts", async () => {
  using home = newHome();
  const files = addShippedRelays(home.path);
  expect(files.length).toBeGreaterThan(20);
  for (const file of files) expect([file, existsSync(file)]).toEqual([file, true]);

  const config = await readRelays({ home: home.path, environment: {}, toolNames: TOOL_NAMES });
  const { problems, warnings } = config;
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  expect([...config.templates.keys()]).toEqual([
    "coder-review",
    "doc-review",
    "plan-implement-test",
    "research",
  ]);
  for (const { maxTotalCostUsd } of config.templates.values()) expect(maxTotalCostUsd).toBeGreaterThan(0);
  for (const { description } of [...config.agents.values(), ...config.templates.values()])
    expect(description).not.toBe("");
  expect(readdirSync(join(home.path, "config"))).toEqual(["thread-templates"]);
});

test("every prompt that comes along is used by an agent that does", () => {
  using home = newHome();
  const files = addShippedRelays(home.path);
  const texts = files.map((file) => readFileSync(file, "utf8")).join("\n");
  const prompts = files
    .map((file) => /prompts\/.*\/([\w-]+\.md)$/.exec(file)?.[1])
    .filter((name) => name !== undefined);
  expect(prompts.length).toBeGreaterThan(10);
  for (const name of prompts) expect(texts).toMatch(new RegExp(`"file:${name}"|^extends: ${name}$`, "m"));
});

test("templates that are there are left alone, in either form, and so is what was deleted", () => {
  using home = newHome();
  const [first] = addShippedRelays(home.path).toReversed();
  rmSync(first!);
  expect(addShippedRelays(home.path)).toEqual([]);
  expect(existsSync(first!)).toBe(false);

  using other = newHome();
  writeFileSync(join(other.path, "config", "thread-templates.json"), "{}");
  expect(addShippedRelays(other.path)).toEqual([]);
  expect(existsSync(join(other.path, "prompts"))).toBe(false);
});

test("a prompt of the owner's with the same name stays as it is", () => {
  using home = newHome();
  const mine = join(home.path, "prompts", "directives", "coder.md");
  mkdirSync(join(home.path, "prompts", "directives"), { recursive: true });
  writeFileSync(mine, "mine");
  expect(addShippedRelays(home.path)).not.toContain(mine);
  expect(readFileSync(mine, "utf8")).toBe("mine");
});

test("the schemas that the files name are beside them", async () => {
  using home = newHome();
  const files = addShippedRelays(home.path).filter((file) => file.endsWith(".json"));
  await writeRelaySchemas(home.path);
  expect(files).not.toEqual([]);
  for (const file of files) {
    const named = /"\$schema": "([^"]+)"/.exec(readFileSync(file, "utf8"))![1]!;
    expect([file, existsSync(join(file, "..", named))]).toEqual([file, true]);
  }
});

test("a home that cannot be written to is told of", () => {
  using home = newHome();
  writeFileSync(join(home.path, "prompts"), "");
  expect(() => addShippedRelays(home.path)).toThrow(
    expect.objectContaining({ code: "home_unwritable", hint: expect.stringContaining("permissions") }),
  );
});
