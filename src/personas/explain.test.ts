import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { explainPermissions } from "./explain.ts";
import { lookUp } from "./lookup.ts";

const { config } = await loadFiles({
  "cortex.json": `{
  "agents": { "scout": {
    "persona": "nova",
    "tools": ["Read"] } },
  "personas": { "nova": { "permissions": {
    "tools": { "deny": ["Bash"] },
    "hosts": ["*"] } } }
}`,
});

test("of every rule it is said where it comes from, also where the file says what is the default", () => {
  const setup = lookUp(config, "scout" as AgentId, "nova" as PersonaId);
  const explained = explainPermissions(setup, config.origins);
  expect(
    explained.map(({ field, value, path, origin }) => [field, JSON.stringify(value), path, origin].join(" ")),
  ).toEqual([
    'tools.allow ["Read"] agents.scout.tools cortex.json:4',
    `roots ["${setup.agent.workspace}"] agents.scout.workspace default`,
    'tools.allow ["*"] personas.nova.permissions.tools.allow default',
    'tools.deny ["Bash"] personas.nova.permissions.tools.deny cortex.json:6',
    "ask [] personas.nova.permissions.ask default",
    "roots [] personas.nova.permissions.roots default",
    'hosts ["*"] personas.nova.permissions.hosts cortex.json:7',
    'channels ["*"] personas.nova.permissions.channels default',
    "credentials [] personas.nova.permissions.credentials default",
    "spendUsdPerDay 20 personas.nova.permissions.spendUsdPerDay default",
  ]);
});
