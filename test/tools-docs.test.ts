import { expect, test } from "vitest";

import { askUserTool } from "../src/agents/tools/ask-user.ts";
import { createCodeExecTool } from "../src/agents/tools/code-exec.ts";
import { createMemorySearchTool } from "../src/agents/tools/memory-search.ts";
import { createSkillTool } from "../src/agents/tools/skill.ts";
import { createWebFetchTool } from "../src/agents/tools/web-fetch.ts";
import { createWebSearchTool } from "../src/agents/tools/web-search.ts";
import { workspaceTools } from "../src/agents/tools/workspace-tools.ts";
import { createDelegationTools } from "../src/delegation/surface/tools.ts";
import { OutgoingFiles } from "../src/agents/tools/outgoing-file.ts";
import { createAttachTool } from "../src/delivery/attach-tool.ts";
import { createMessageTool } from "../src/delivery/message-tool.ts";
import { createHookTools } from "../src/hooks/surface/tools.ts";
import { MARKS, type ToolTrust } from "../src/model/trust.ts";
import { createRelayTools } from "../src/relay/surface/tools.ts";
import { TOOL_NAMES } from "../src/runtime/features.ts";
import { createTeamTools } from "../src/team/surface/tools.ts";
import { loadFiles } from "./support/config-home.ts";
import { blocksOf, readPage } from "./support/docs.ts";

const page = readPage("docs/tools.md");

function absent(): never {
  throw new Error("not here");
}

const files = new OutgoingFiles(absent);

const tools = [
  ...workspaceTools,
  askUserTool,
  createCodeExecTool({ node: process.execPath }),
  createMemorySearchTool({ search: async () => [] }),
  createSkillTool(async () => []),
  ...createHookTools(() => {
    throw new Error("not here");
  }),
  createMessageTool({
    add: async () => {},
    has: async () => false,
    channels: () => [],
    can: () => undefined,
    files,
  }),
  createAttachTool({ files, can: () => undefined }),
  ...createDelegationTools(absent, absent),
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
    page.matchAll(/^\| `(\w+)` *\| (`.*`|–) *\| ([\w,:; –]+?) *\|$/gm),
    ([, ...cells]) => cells,
  );
  const documented = Object.fromEntries(
    rows.map(([name, parameters, marks]) => [name, `${parameters} ${marks}`]),
  );

  const defined = tools.map(({ name, parameters, trust, errorTrust = {} }) => {
    const { properties, required = [] } = parameters as { properties: object; required?: readonly string[] };
    const keys = Object.keys(properties).map((key) =>
      required.includes(key) ? `\`${key}\`` : `\`${key}?\``,
    );
    const list = (of: ToolTrust): string => MARKS.filter((mark) => of[mark] === true).join(", ");
    const isMore = MARKS.some((mark) => errorTrust[mark] === true && trust[mark] !== true);
    const errors = isMore ? `; errors: ${list(errorTrust)}` : "";
    return [name, `${keys.join(", ") || "–"} ${list(trust) || "–"}${errors}`] as const;
  });
  expect(documented).toEqual(Object.fromEntries(defined));
});

test("all tools that there are are on the page", () => {
  expect(tools.map(({ name }) => name).toSorted()).toEqual(TOOL_NAMES.toSorted());
});

/** What each tool tells a model that declares no mark, in its result or in an error. */
const TELLS_NOTHING: Readonly<Record<string, string>> = {
  AskUser: "the answer of a person",
  Write: "how many bytes were given",
  sub_agent: "the result of a worker, with the marks of its session",
  dispatch_to_agent: "the session of a worker; its result comes with the marks of its session",
  send_message_to_agent: "the session that was named",
  reply_to_caller: "where the answer went",
  relay_start: "the id of a relay; its result comes with the marks of its steps",
  relay_abort: "nothing",
  create_hook: "the name that was given",
  dispatch_task: "the member and the title that were given",
  register_agent: "the slug of the name that was given",
  flag_task: "nothing",
};

test("a tool without marks is on a list that says what it tells, and everything else is marked", () => {
  const unmarked = tools.filter(({ trust }) => trust.private !== true && trust.untrusted !== true);
  const sendOnly = ["message", "disable_hook"];
  expect(unmarked.map(({ name }) => name).toSorted()).toEqual(
    [...Object.keys(TELLS_NOTHING), ...sendOnly].toSorted(),
  );
});

test("the examples of the page are valid", async () => {
  const blocks = blocksOf(page, "json");
  expect(blocks.length).toBeGreaterThan(3);
  for (const text of blocks) await expect(loadFiles({ "cortex.json": text })).resolves.toBeDefined();
});
