import { expect, test } from "vitest";

import { askUserTool } from "../src/agents/tools/ask-user.ts";
import { createCodeExecTool } from "../src/agents/tools/code-exec.ts";
import { createMemorySearchTool } from "../src/agents/tools/memory-search.ts";
import { createWebFetchTool } from "../src/agents/tools/web-fetch.ts";
import { createWebSearchTool } from "../src/agents/tools/web-search.ts";
import { workspaceTools } from "../src/agents/tools/workspace-tools.ts";
import { createDelegationTools } from "../src/delegation/tools.ts";
import { createMessageTool } from "../src/delivery/message-tool.ts";
import { createHookTools } from "../src/hooks/tools.ts";
import { MARKS } from "../src/model/trust.ts";
import { createRelayTools } from "../src/relay/tools.ts";
import { createTeamTools } from "../src/team/tools.ts";
import { loadFiles } from "./support/config-home.ts";
import { blocksOf, readPage } from "./support/docs.ts";

const page = readPage("docs/tools.md");

const tools = [
  ...workspaceTools,
  askUserTool,
  createCodeExecTool({ node: process.execPath }),
  createMemorySearchTool({ search: async () => [] }),
  ...createHookTools({
    list: async () => [],
    add: () => Promise.reject(new Error("not here")),
    setEnabled: () => Promise.reject(new Error("not here")),
  }),
  createMessageTool({ add: async () => {}, channels: () => [] }),
  ...createDelegationTools(() => {
    throw new Error("not here");
  }),
  ...createRelayTools(() => {
    throw new Error("not here");
  }),
  ...createTeamTools(() => {
    throw new Error("not here");
  }),
  createWebFetchTool(),
  createWebSearchTool({ endpoint: () => undefined, fetch }),
];

test("docs/tools.md has every tool with its parameters and marks", () => {
  const rows = Array.from(
    page.matchAll(/^\| `(\w+)` *\| (`.*`|–) *\| ([\w, –]+?) *\|$/gm),
    ([, ...cells]) => cells,
  );
  const documented = Object.fromEntries(
    rows.map(([name, parameters, marks]) => [name, `${parameters} ${marks}`]),
  );

  const defined = tools.map(({ name, parameters, trust = {} }) => {
    const { properties, required = [] } = parameters as { properties: object; required?: readonly string[] };
    const keys = Object.keys(properties).map((key) =>
      required.includes(key) ? `\`${key}\`` : `\`${key}?\``,
    );
    const marks = MARKS.filter((mark) => trust[mark] === true);
    return [name, `${keys.join(", ") || "–"} ${marks.join(", ") || "–"}`] as const;
  });
  expect(documented).toMatchObject(Object.fromEntries(defined));
});

test("the examples of the page are valid", async () => {
  const blocks = blocksOf(page, "json");
  expect(blocks.length).toBeGreaterThan(3);
  for (const text of blocks) await expect(loadFiles({ "cortex.json": text })).resolves.toBeDefined();
});
