/** Turns validated entries into the agents and templates that relays run with. */
import type { z } from "zod";

import { formatPath } from "../../config/problem.ts";
import { findMistakes } from "../../config/validate.ts";
import { CortexError } from "../../model/errors.ts";
import { ACTIVE_PROFILE } from "../../model/profile.ts";
import { present } from "../../model/present.ts";
import { type Endpoint, parseEndpoint, resolveStage } from "./endpoint.ts";
import type { Loose } from "./loose.ts";
import { type AgentEntry, hooksSchema, type TemplateEntry } from "./schema.ts";
import {
  ACTIVE_AGENT,
  type RelayAgent,
  type RelayCondition,
  type RelayOverrides,
  type RelayScript,
  type RelayScripts,
  type RelayStage,
  type RelayTemplate,
  type RelayTransition,
} from "./snapshot.ts";

/** `texts` and `prompts` are the contents of the files that the entry refers to. */
export function resolveAgent(
  name: string,
  entry: AgentEntry,
  { texts, prompts }: { texts: RelayOverrides; prompts: ReadonlyMap<string, string> },
): RelayAgent {
  const stages = Object.entries(entry.stages ?? {}).map(([name, stage]): [string, RelayStage] => {
    const { description, continuesSession, promptTemplate } = stage;
    return [name, { description, continuesSession, promptTemplate: prompts.get(name) ?? promptTemplate }];
  });
  const { description, profile, persistSession } = entry;
  const agent = { name, description, profile, persistSession, pluginDirs: [], ...overridesOf(entry, texts) };
  const [first] = stages;
  if (first === undefined) return agent;
  const { promptTemplate: _, ...staged } = agent;
  return { ...staged, stages: Object.fromEntries(stages), entryStage: entry.entryStage ?? first[0] };
}

/** The fields of an entry that templates may override. */
export function overridesOf(
  entry: Pick<Loose<AgentEntry>, "persistSession" | "claudeAgent" | "outputStyle" | "tools">,
  texts: RelayOverrides,
): RelayOverrides {
  const { persistSession, claudeAgent, outputStyle, tools } = entry;
  return {
    ...texts,
    ...present({ persistSession, claudeAgent, outputStyle }),
    ...(tools === undefined ? {} : { tools: toolNames(tools) }),
  };
}

export interface TemplateMember {
  readonly name: string;
  readonly overrides: RelayOverrides;
}

/** Undefined: it needs an agent that is not usable. */
export function resolveTemplate(
  name: string,
  entry: TemplateEntry,
  { members, agents }: { members: readonly TemplateMember[]; agents: ReadonlyMap<string, RelayAgent> },
): RelayTemplate | undefined {
  const { description, entryAgent, maxTotalSteps, maxTotalCostUsd } = entry;
  const transitions = entry.transitions.map(({ from, to, condition }) => ({
    from: [from].flat().map(parseEndpoint),
    to: [to].flat().map(parseEndpoint),
    condition: resolveCondition(condition),
  }));
  const taking: RelayAgent[] = [];
  for (const { name: member, overrides } of withActive(members, entryAgent, transitions)) {
    const agent = member === ACTIVE_AGENT ? PLACEHOLDER : agents.get(member);
    if (agent === undefined) return undefined;
    taking.push(override(agent, overrides));
  }
  const first = taking.find((agent) => agent.name === entryAgent);
  const entryStage = first === undefined ? null : resolveStage(first, entry.entryStage ?? null);
  const active = members.find((member) => member.name === ACTIVE_AGENT);
  return {
    name,
    description,
    agents: taking,
    transitions,
    entryAgent,
    ...(entryStage === null ? {} : { entryStage }),
    maxTotalSteps,
    ...(maxTotalCostUsd === undefined ? {} : { maxTotalCostUsd }),
    hooks: entry.disableHooks ? {} : resolveScripts(entry.hooks),
    ...(active === undefined ? {} : { activeOverrides: active.overrides }),
  };
}

/** Replaces `__active__` with the current agent. */
export function bindActive(template: RelayTemplate, active: RelayAgent): RelayTemplate {
  if (!template.agents.some(({ name }) => name === ACTIVE_AGENT)) return template;
  const { activeOverrides = {}, entryStage: stage = null, ...rest } = template;
  const listed = template.agents.find(({ name }) => name === active.name);
  const bound = override(listed ?? active, activeOverrides);
  const bind = (end: Endpoint): Endpoint =>
    end.agent === ACTIVE_AGENT ? { ...end, agent: bound.name } : end;
  const isEntry = template.entryAgent === ACTIVE_AGENT;
  const entryStage = isEntry ? resolveStage(bound, stage) : stage;
  return {
    ...rest,
    agents: template.agents
      .filter((agent) => agent !== listed)
      .map((agent) => (agent.name === ACTIVE_AGENT ? bound : agent)),
    transitions: template.transitions.map(({ from, to, condition }) => ({
      from: from.map(bind),
      to: to.map(bind),
      condition,
    })),
    entryAgent: isEntry ? bound.name : template.entryAgent,
    ...(entryStage === null ? {} : { entryStage }),
  };
}

/** An agent without prompts or settings of its own. */
export function plainAgent(name: string): RelayAgent {
  return { name, description: "", profile: ACTIVE_PROFILE, persistSession: false, pluginDirs: [] };
}

/** Takes the place of the current agent until the relay starts. */
const PLACEHOLDER = plainAgent(ACTIVE_AGENT);

function override(agent: RelayAgent, overrides: RelayOverrides): RelayAgent {
  const merged = { ...agent, ...overrides };
  if (agent.stages === undefined) return merged;
  const { promptTemplate: _, ...staged } = merged;
  return staged;
}

/** Adds `__active__` to the agents if a transition or the entry names it. */
function withActive(
  members: readonly TemplateMember[],
  entryAgent: string,
  transitions: readonly Pick<RelayTransition, "from" | "to">[],
): readonly TemplateMember[] {
  const named = new Set([
    entryAgent,
    ...transitions.flatMap(({ from, to }) => [...from, ...to]).map(({ agent }) => agent),
  ]);
  const isThere = members.some(({ name }) => name === ACTIVE_AGENT);
  return isThere || !named.has(ACTIVE_AGENT) ? members : [...members, { name: ACTIVE_AGENT, overrides: {} }];
}

function resolveCondition(condition: TemplateEntry["transitions"][number]["condition"]): RelayCondition {
  const { type, marker, maxIterations, onMarker, pattern = "", scope } = condition;
  switch (type) {
    case "always":
      return { type };
    case "convergence":
      return {
        type,
        ...(marker === undefined ? {} : { marker }),
        maxIterations,
        ...(onMarker === undefined ? {} : { onMarker }),
        scope,
      };
    case "output_contains":
    case "output_not_contains":
      return { type, pattern, scope };
  }
}

/** Scripts passed by a program, in the format of templates. */
export type ExtraHooks = z.input<typeof hooksSchema>;

/** `request_invalid` if the format is wrong. */
export function parseExtraHooks(hooks: ExtraHooks): RelayScripts {
  const [mistake] = findMistakes(hooksSchema, hooks);
  if (mistake === undefined) return resolveScripts(hooksSchema.parse(hooks));
  const { path, message } = mistake;
  throw new CortexError("request_invalid", `Invalid ${formatPath(["extraHooks", ...path])}: ${message}`, {
    hint: 'Expected {"onStart"?, "onTransition"?, "onEnd"?}, each {"command", "args"?, "timeout"?, "env"?}; timeout is in milliseconds.',
  });
}

function resolveScripts(hooks: TemplateEntry["hooks"] = {}): RelayScripts {
  const scripts = Object.entries(hooks).map(([moment, { timeout, ...script }]): [string, RelayScript] => [
    moment,
    { ...script, timeoutMs: timeout },
  ]);
  return Object.fromEntries(scripts);
}

function toolNames(tools: string | readonly (string | undefined)[]): readonly string[] {
  const names = typeof tools === "string" ? tools.split(",") : tools;
  return names.flatMap((name) => name?.trim() || []);
}
