import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { run, runJson } from "./support/here.ts";
import { configHome } from "./support/config-home.ts";

test("a persona and an agent that has it are made by two commands, and no comment is lost", async () => {
  using home = configHome({
    "cortex.json": '// Mine.\n{\n  // The port.\n  "server": { "port": 1 } // is taken\n}\n',
  });
  const made = await runJson(
    home.path,
    "personas",
    "create",
    "nova",
    "--name",
    "Nova",
    "--deny",
    "Bash, Write",
  );
  expect(made).toMatchObject({
    id: "nova",
    name: "Nova",
    permissions: { tools: { deny: ["Bash", "Write"] } },
  });
  const { code, out } = await run(home.path, [
    "agents",
    "create",
    "scout",
    "--persona",
    "nova",
    "--tools",
    "Read",
  ]);
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringContaining("Added agent scout: worker, persona nova"),
  });

  expect(readFileSync(join(home.folder, "cortex.json"), "utf8")).toBe(`// Mine.
{
  // The port.
  "server": { "port": 1 }, // is taken
  "personas": {
    "nova": {
      "identity": {
        "name": "Nova"
      },
      "permissions": {
        "tools": {
          "deny": ["Bash", "Write"]
        }
      }
    }
  },
  "agents": {
    "scout": {
      "persona": "nova",
      "tools": ["Read"]
    }
  }
}
`);
  expect((await run(home.path, ["agents", "show", "scout"])).out).toMatch(
    /agent +scout, worker\npersona +nova \(Nova\)\n[^]*tools.deny +Bash, Write +personas.nova.permissions.tools.deny, cortex.json:\d+/,
  );
  expect((await run(home.path, ["personas", "show", "nova"])).out).toMatch(
    /agents +scout\nmain session +agent:scout:main/,
  );
});

test.each([
  [["personas", "create", "atlas"], 1, '"atlas" is already a persona'],
  [["agents", "create", "main"], 1, '"main" is already an agent'],
  [["agents", "create", "Scout"], 1, '"Scout" contains uppercase letters'],
  [["agents", "create", "scout", "--persona", "nobody"], 1, 'unknown persona "nobody"'],
  [["agents", "create", "scout", "--role", "boss"], 1, 'expected one of manager, worker, got "boss"'],
  [["agents", "create"], 2, "Missing required argument"],
  [["agents", "show", "nobody"], 1, 'Unknown agent "nobody"'],
  [["personas", "show", "nobody"], 1, 'Unknown persona "nobody"'],
])("%j is refused, and nothing is written", async (args, code, message) => {
  using home = configHome({ "cortex.json": "{}" });
  expect(await run(home.path, args)).toMatchObject({ code, out: "", err: expect.stringContaining(message) });
  expect(readFileSync(join(home.folder, "cortex.json"), "utf8")).toBe("{}");
});

test("check ends with 1 where there are errors, and with 0 where there are only warnings", async () => {
  using home = configHome({ "cortex.json": { agents: { main: { workspace: "work" } } } });
  expect(await run(home.path, ["agents", "check"])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^warning agents.main.workspace: [^]*0 errors, 1 warning/),
  });
  writeFileSync(join(home.path, "work"), "");
  const { code, out } = await run(home.path, ["personas", "check", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ errors: 1, warnings: 0, findings: [{ level: "error" }] });
});
