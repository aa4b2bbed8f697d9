import * as fc from "fast-check";
import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { allowsChannel, allowsHost, allowsTool, asksBefore, type Permissions } from "../model/permissions.ts";
import { lookUp, type Setup } from "./lookup.ts";
import { deniedTools, narrowingByDenied, permissionsOf } from "./permissions.ts";

type Given = Partial<Setup["persona"]["permissions"]> & { readonly agent?: readonly string[] };

async function setup({ agent = ["*"], ...permissions }: Given): Promise<Setup> {
  const { config } = await loadFiles({
    "cortex.json": { agents: { main: { tools: agent } }, personas: { atlas: { permissions } } },
  });
  return lookUp(config, "main" as AgentId, "atlas" as PersonaId);
}

const full = await setup({
  roots: ["/data"],
  credentials: ["GH_TOKEN", "NPM_TOKEN"],
});

test.each<[Given, boolean]>([
  [{}, true],
  [{ agent: [] }, false],
  [{ tools: { allow: [], deny: [] } }, false],
  [{ agent: ["Read", "Bash"] }, true],
  [{ agent: ["Read"] }, false],
  [{ agent: ["B*"], tools: { allow: ["*h"], deny: [] } }, true],
  [{ agent: ["Bash"], tools: { allow: ["Read"], deny: [] } }, false],
  [{ tools: { allow: ["*"], deny: ["Bash"] } }, false],
  [{ tools: { allow: ["*"], deny: ["shell"] } }, false],
  [{ tools: { allow: ["*"], deny: ["s*l"] } }, false],
  [{ agent: ["shell"] }, true],
  [{ agent: ["s*l"] }, false],
])("with %j, whether an agent has Bash is %s", async (given, allowed) => {
  expect(allowsTool(permissionsOf(await setup(given), []), "Bash")).toBe(allowed);
});

test("to be asked before a tool by another name is to be asked before the tool", async () => {
  const permissions = permissionsOf(await setup({ ask: ["file_*", "code_exec"] }), []);
  expect(["Read", "Write", "CodeExec", "Bash"].filter((tool) => asksBefore(permissions, tool))).toEqual([
    "Read",
    "Write",
    "CodeExec",
  ]);
});

test("a dispatch takes away what it says, and only that", () => {
  const permissions = permissionsOf(full, [
    { authority: "paired", tools: { deny: ["Bash"] }, hosts: ["*.example.com"] },
    { roots: ["/data/public", "/etc"], credentials: ["NPM_TOKEN", "AWS_KEY"], spendUsdPerDay: 1 },
  ]);
  expect(allowsTool(permissions, "Read")).toBe(true);
  expect(allowsTool(permissions, "Bash")).toBe(false);
  expect(allowsHost(permissions, "www.example.com")).toBe(true);
  expect(allowsHost(permissions, "example.org")).toBe(false);
  expect(allowsChannel(permissions, "telegram")).toBe(true);
  expect(permissions).toMatchObject({
    roots: ["/data/public"],
    credentials: ["NPM_TOKEN"],
    spendUsdPerDay: 1,
  });
});

test("a dispatch that says only who sent it takes nothing away", () => {
  const own = permissionsOf(full, []);
  for (const authority of ["owner", "paired", "source"]) {
    expect(permissionsOf(full, [{ authority }])).toEqual(own);
  }
});

test.each<[string, Json]>([
  ["null", null],
  ["a word", "all"],
  ["a list", []],
  ["a key that is misspelt", { tols: { allow: ["Read"] } }],
  ["a key that is misspelt within tools", { tools: { alow: ["Read"] } }],
  ["tools as a list", { tools: ["Read"] }],
  ["a pattern that is none", { tools: { allow: [5] } }],
  ["a host that is none", { hosts: "example.com" }],
  ["a root that is relative", { roots: ["."] }],
  ["a negative sum", { spendUsdPerDay: -1 }],
  ["a sum that is none", { spendUsdPerDay: null }],
  ["a guest", { authority: "guest" }],
])("a dispatch that cannot be read (%s) allows nothing", (_, narrowed) => {
  const permissions = permissionsOf(full, [narrowed]);
  expect(allowsTool(permissions, "Read")).toBe(false);
  expect(allowsHost(permissions, "example.com")).toBe(false);
  expect(allowsChannel(permissions, "telegram")).toBe(false);
  expect(asksBefore(permissions, "Read")).toBe(true);
  expect(permissions).toMatchObject({ roots: [], credentials: [], spendUsdPerDay: 0 });
});

test("a folder is compared by where it leads", () => {
  expect(permissionsOf(full, [{ roots: ["/data/../etc"] }]).roots).toEqual([]);
  expect(permissionsOf(full, [{ roots: ["/etc/../data/x"] }]).roots).toEqual(["/data/x"]);
});

const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 4 });
const patterns = fc.array(pattern, { maxLength: 3 });
const folders = fc.subarray(["/data", "/data/a", "/data/a/b", "/etc"]);
const credentials = fc.subarray(["GH_TOKEN", "NPM_TOKEN"]);
const given = fc.record({
  tools: patterns,
  permissions: fc.record({
    tools: fc.record({ allow: patterns, deny: patterns }),
    ask: patterns,
    roots: folders,
    hosts: patterns,
    channels: patterns,
    credentials,
    spendUsdPerDay: fc.nat(),
  }),
});

test("a worker never has more than its manager, however far down", () => {
  fc.assert(
    fc.property(fc.array(given, { minLength: 2, maxLength: 4 }), fc.array(pattern), (chain, names) => {
      const setups = chain.map(({ tools, permissions }) => ({
        ...full,
        agent: { ...full.agent, tools },
        persona: { ...full.persona, permissions },
      }));
      const [manager, ...workers] = setups;
      let above = permissionsOf(manager!, []);
      for (const worker of workers) {
        const stored = JSON.parse(JSON.stringify(above)) as Json;
        const below = permissionsOf(worker, [stored]);
        expect(excess(below, above, names)).toEqual([]);
        above = below;
      }
    }),
  );
});

/** What the one below has and the one above does not. */
function excess(below: Permissions, above: Permissions, names: readonly string[]): string[] {
  const isIn = (root: string): boolean =>
    above.roots.some((other) => root === other || root.startsWith(`${other}/`));
  return [
    ...[allowsTool, allowsHost, allowsChannel].flatMap((allows) =>
      names.filter((name) => allows(below, name) && !allows(above, name)),
    ),
    ...names.filter((name) => asksBefore(above, name) && !asksBefore(below, name)),
    ...below.roots.filter((root) => !isIn(root)),
    ...below.credentials.filter((name) => !above.credentials.includes(name)),
    ...(below.spendUsdPerDay > above.spendUsdPerDay ? ["money"] : []),
  ];
}

test("what a label denies is taken away, and nothing else", () => {
  const narrowing = narrowingByDenied(["WebFetch"])!;
  expect(deniedTools(narrowing as Json)).toEqual(["WebFetch"]);
  const both = narrowingByDenied(["Bash", "!Read,Write"])!;
  expect(deniedTools(both as Json)).toEqual(["Bash", "!Read,Write"]);
});
