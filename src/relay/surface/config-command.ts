/** Commands for the agents and templates of relays, and the problems in their files. They need no server. */
import { readRelays } from "../templates/read-home.ts";
import {
  type RelayAgentView,
  type RelayConfigView,
  relayConfigView,
  type RelayTemplateView,
} from "./views.ts";
import type { Invocation } from "../../feature/command.ts";
import { count, firstLine, harmless, indent, table } from "../../terminal/text.ts";

const MAX_TEXT_LENGTH = 100;
/** How many problems are shown below other output. */
const MAX_MENTIONED = 3;

export async function listTemplates(given: Invocation): Promise<void> {
  const config = await read(given);
  const { templates: items } = config;
  given.print.data({ items, next: null }, () =>
    items.length === 0
      ? nothingIn(config, "templates", given)
      : table(items.map((template) => [template.name, template.agents.join(", "), about(template)])),
  );
  mention(config, given);
}

export async function listRelayAgents(given: Invocation): Promise<void> {
  const config = await read(given);
  const { agents: items } = config;
  given.print.data({ items, next: null }, () =>
    items.length === 0
      ? nothingIn(config, "agents", given)
      : table(items.map((agent) => [agent.name, agent.profile, stagesOf(agent), about(agent)])),
  );
  mention(config, given);
}

/** False: there are problems. */
export async function validateRelays(given: Invocation): Promise<void | false> {
  const { print } = given;
  const config = await read(given);
  const { problems, warnings } = config;
  print.data(config, () =>
    [
      ...problems.map((problem) => `${print.style("red", "problem")} ${describe(problem)}`),
      ...warnings.map((warning) => `${print.style("yellow", "warning")} ${describe(warning)}`),
      ...config.templates.filter(({ convergence }) => convergence.length > 0).map(readings),
      `${count(config.templates.length, "usable template")}, ${count(config.agents.length, "usable agent")}, ` +
        `${count(problems.length, "problem")}, ${count(warnings.length, "warning")}.`,
    ].join("\n"),
  );
  return problems.length === 0 ? undefined : false;
}

async function read({ home, environment, toolNames }: Invocation): Promise<RelayConfigView> {
  return relayConfigView(await readRelays({ home, environment, toolNames }));
}

function nothingIn({ problems }: RelayConfigView, what: string, { print }: Invocation): string {
  if (problems.length > 0) return `No usable ${what}.`;
  return print.advice(
    `No relay ${what}. \`cortex init\` adds some; docs/relay-templates.md explains how to write your own.`,
  );
}

/** A list is incomplete while files are invalid. */
function mention({ problems }: RelayConfigView, { print }: Invocation): void {
  if (problems.length === 0) return;
  print.note(`${count(problems.length, "problem")} in their files:`);
  for (const problem of problems.slice(0, MAX_MENTIONED)) print.note(describe(problem));
  if (problems.length > MAX_MENTIONED) print.note(print.advice("`cortex relay validate` lists them all."));
}

function about({ description }: { readonly description: string }): string {
  return firstLine(description, MAX_TEXT_LENGTH);
}

function stagesOf({ stages }: RelayAgentView): string {
  return stages.length === 0 ? "-" : stages.map(({ name }) => name).join(", ");
}

function describe({ source, path, message, hint }: RelayConfigView["problems"][number]): string {
  return harmless(`${source} ${path === "" ? "" : `${path}: `}${message}\n  ${hint}`);
}

function readings({ name, convergence }: RelayTemplateView): string {
  const lines = convergence.map(
    ({ reading, isStated, text }) => `${text} (${reading}, ${isStated ? "stated" : "inferred"})`,
  );
  return harmless(`${name}\n${indent(lines.join("\n"))}`);
}
