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

export async function showAgent({ home, environment, args, print }: Invocation): Promise<void> {
  const { config, model } = await readConfigured({ home, environment });
  const details = await describeAgent(args[0]!, { home, config, environment, model: await model() });
  print.data(details, () =>
    [harmless(table(factsOf(details))), "", "May do:", permissionLines(details.permissions, print)].join(
      "\n",
    ),
  );
}

export async function createAgent(given: Invocation): Promise<void> {
  const { home, environment, args, print } = given;
  const id = args[0]!;
  const value = present({
    persona: text(given, "persona"),
    profile: text(given, "profile"),
    role: text(given, "role"),
    tools: listOf(given, "tools"),
    workspace: text(given, "workspace"),
  });
  const { config } = await addConfigured({ home, environment }, { section: "agents", name: id, value });
  const [, agent] = Object.entries(config.agents).find(([name]) => name === id)!;
  print.data(agentView(id, agent), () =>
    [
      `${id} is a ${agent.role} with the persona ${agent.persona}, in ${agent.workspace}.`,
      print.advice(`\`cortex send --session agent:${id}:main hello\` talks to it.`),
    ].join("\n"),
  );
}

function factsOf(details: AgentDetails): string[][] {
  const { model, workspace, workspaceExists, identityFiles, knownSkills, sandbox } = details;
  const { provider, model: of, name } = model.profile;
  const meant = [provider, of].filter((part) => part !== null).join(" ");
  return [
    ["agent", `${details.id}, a ${details.role}`],
    ["persona", `${details.persona}, called ${details.name}`],
    [
      "profile",
      `${details.profile}${details.profile === name ? "" : ` is ${name}`}${meant === "" ? "" : `: ${meant}`}`,
    ],
    ["", `because ${model.why}`],
    ["workspace", workspaceExists ? workspace : `${workspace}, which is made when it first runs`],
    ["files", identityFiles.map(describeFile).join(", ") || "none"],
    ["skills", knownSkills.map((skill) => skill.name).join(", ") || "none"],
    ["memory", details.memory ? "is reminded of what the ledger holds" : "is not reminded of anything"],
    ["sandbox", `${sandbox.setting}: ${sandbox.effective}, because ${sandbox.why}`],
  ];
}

function describeFile({ name, bytes, problem }: AgentDetails["identityFiles"][number]): string {
  const size = bytes === null ? "" : ` (${count(bytes, "byte")})`;
  return problem === null ? `${name}${size}` : `${name}${size}: ${problem}`;
}

/** Looks at all agents and personas. False: there are errors. */
export async function checkAgentsAndPersonas({
  home,
  environment,
  print,
  toolNames,
}: Invocation): Promise<void | false> {
  const { config, variable } = await readConfigured({ home, environment });
  const findings = await checkAgents({ home, config, variable, toolNames });
  const errors = findings.filter(({ level }) => level === "error").length;
  print.data({ findings, errors, warnings: findings.length - errors }, () =>
    [
      ...findings.map((finding) => describeFinding(finding, print.style)),
      findings.length === 0
        ? `Nothing is wrong with ${count(Object.keys(config.agents).length, "agent")} and ${count(Object.keys(config.personas).length, "persona")}.`
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
