import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadFiles } from "../../test/support/config-home.ts";

const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

test("the examples of the page are valid, together", async () => {
  const blocks = Array.from(page.matchAll(/```jsonc?\n(.*?)```/gs), ([, text]) => text!);
  const files = blocks.map((text) => [/^\/\/ config\/(\S+)\n/.exec(text)?.[1], text] as const);
  expect(files.map(([name]) => name)).toEqual(["cortex.json", "profiles.json"]);

  const { config } = await loadFiles(Object.fromEntries(files));
  expect(Object.keys(config.agents)).toEqual(["main", "scout"]);
  expect(config.defaultProfile).toBe("work");
});
