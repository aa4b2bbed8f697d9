import assert from "node:assert/strict";

import { present } from "../model/present.ts";
import { addConfigured, readConfigured } from "../config/configured.ts";
import { type AgentDetails, describeAgent } from "../insight/describe.ts";
import { agentView } from "../feature/views.ts";
import { type Invocation, listOf, text } from "../feature/command.ts";
import { checkAgents, type Finding } from "../personas/check-agents.ts";
import { permissionLines } from "./personas.ts";
import { count, harmless, table } from "../terminal/text.ts";

export async function listAgents({ home, environment, print }: Invocation): Promise<void> {
  const { config } = await readConfigured({ home, environment });
  const items = Object.entries(config.agents).map(([id, agent]) => agentView(id, agent));
  print.data({ items, next: null }, () =>
    table(
      items.map(({ id, role, persona, profile, tools }) => [id, role, persona, profile, tools.join(" ")]),
    ),
  );
}

export async function showAgent({ home, environment, agentFolders, args, print }: Invocation): Promise<void> {
  const { config, model } = await readConfigured({ home, environment });
  const [id = ""] = args;
  const details = await describeAgent(id, { home, config, environment, agentFolders, model: await model() });
  print.data(details, () =>
    [harmless(table(factsOf(details))), "", "Permissions:", permissionLines(details.permissions, print)].join(
      "\n",
    ),
  );
}

export async function createAgent(given: Invocation): Promise<void> {
  const { home, environment, args, print } = given;
  const [id = ""] = args;
  const value = present({
    persona: text(given, "persona"),
    profile: text(given, "profile"),
    role: text(given, "role"),
    tools: listOf(given, "tools"),
    workspace: text(given, "workspace"),
  });
  const { config } = await addConfigured({ home, environment }, { section: "agents", name: id, value });
  const agent = Object.entries(config.agents).find(([name]) => name === id)?.[1];
  assert(agent !== undefined, "the agent was added");
  print.data(agentView(id, agent), () =>
    [
      `Added agent ${id}: ${agent.role}, persona ${agent.persona}, workspace ${agent.workspace}.`,
      print.advice(`Run \`cortex send --session agent:${id}:main hello\` to talk to it.`),
    ].join("\n"),
  );
}

function factsOf(details: AgentDetails): string[][] {
  const { model, workspace, workspaceExists, identityFiles, knownSkills, skillProblems, sandbox } = details;
  const { provider, model: of, name } = model.profile;
  const meant = [provider, of].filter((part) => part !== null).join(" ");
  return [
    ["agent", `${details.id}, ${details.role}`],
    ["persona", `${details.persona} (${details.name})`],
    [
      "profile",
      `${details.profile}${details.profile === name ? "" : ` → ${name}`}${meant === "" ? "" : `: ${meant}`}`,
    ],
    ["", `because ${model.why}`],
    ["workspace", workspaceExists ? workspace : `${workspace} (created on its first run)`],
    ["files", identityFiles.map(describeFile).join(", ") || "none"],
    ["skills", knownSkills.map((skill) => skill.name).join(", ") || "none"],
    ...skillProblems.map(({ path, problem, hint }) => [
      "",
      `${path}: ${problem}${hint === null ? "" : `. ${hint}`}`,
    ]),
    ["memory", details.memory ? "on: relevant turns are recalled from the ledger" : "off"],
    ["sandbox", `${sandbox.setting}: ${sandbox.effective}, because ${sandbox.why}`],
  ];
}

function describeFile({ name, bytes, problem }: AgentDetails["identityFiles"][number]): string {
  const size = bytes === null ? "" : ` (${count(bytes, "byte")})`;
  return problem === null ? `${name}${size}` : `${name}${size}: ${problem}`;
}

/** Checks all agents and personas. False: errors were found. */
export async function checkAgentsAndPersonas({
  home,
  environment,
  print,
  toolNames,
  agentFolders,
}: Invocation): Promise<void | false> {
  const { config, variable } = await readConfigured({ home, environment });
  const findings = await checkAgents({ home, config, variable, toolNames, agentFolders });
  const errors = findings.filter(({ level }) => level === "error").length;
  print.data({ findings, errors, warnings: findings.length - errors }, () =>
    [
      ...findings.map((finding) => describeFinding(finding, print.style)),
      findings.length === 0
        ? `No problems in ${count(Object.keys(config.agents).length, "agent")} and ${count(Object.keys(config.personas).length, "persona")}.`
        : `${count(errors, "error")}, ${count(findings.length - errors, "warning")}.`,
    ].join("\n"),
  );
  if (errors > 0) return false;
}

function describeFinding(
  { level, path, message, hint }: Finding,
  style: Invocation["print"]["style"],
): string {
  const word = style(level === "error" ? "red" : "yellow", level);
  return `${word} ${harmless(`${path}: ${message}\n  ${hint}`)}`;
}
