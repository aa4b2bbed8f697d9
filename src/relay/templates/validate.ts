/** Checks the references within a template: agents, stages, ends of transitions. */
import { suggest } from "../../model/nearest.ts";
import { type Path, quote } from "../../config/problem.ts";
import { parseEndpoint } from "./endpoint.ts";
import { type EntryFinding, errorAt, warningAt } from "./finding.ts";
import type { Loose } from "./loose.ts";
import type { TemplateEntry } from "./schema.ts";
import { ACTIVE_AGENT } from "./snapshot.ts";

/** The stages of every agent, including invalid agents. */
export type KnownAgents = ReadonlyMap<string, readonly string[]>;

type LooseTemplate = Omit<Loose<TemplateEntry>, "$schema" | "name">;

export function checkReferences(template: LooseTemplate, known: KnownAgents): EntryFinding[] {
  const members = membersOf(template);
  return [
    ...checkMembers(members, known),
    ...checkEntry(template, members, known),
    ...checkEnds(template, members, known),
    ...checkReached(template, members),
  ];
}

interface Member {
  readonly name: string;
  readonly path: Path;
  readonly hasPrompt: boolean;
}

function membersOf({ agents = [] }: LooseTemplate): Member[] {
  return agents.flatMap((agent, index) => {
    const path = ["agents", index];
    if (typeof agent === "string") return [{ name: agent, path, hasPrompt: false }];
    if (agent?.ref === undefined) return [];
    return [{ name: agent.ref, path: [...path, "ref"], hasPrompt: agent.promptTemplate !== undefined }];
  });
}

function checkMembers(members: readonly Member[], known: KnownAgents): EntryFinding[] {
  return members.flatMap(({ name, path, hasPrompt }, index) => {
    const findings: EntryFinding[] = [];
    if (name !== ACTIVE_AGENT && !known.has(name)) {
      const hint = known.size === 0 ? "No agents are defined yet." : suggest(name, [...known.keys()]);
      findings.push(errorAt(path, `unknown agent ${quote(name)}`, hint));
    }
    if (members.findIndex((member) => member.name === name) < index) {
      const hint = "List an agent once; it can run any number of steps.";
      findings.push(errorAt(path, `duplicate ${quote(name)}`, hint));
    }
    if (hasPrompt && (known.get(name)?.length ?? 0) > 0) {
      const hint = "Remove it: stages cannot be overridden.";
      const message = "ignored because the agent has stages";
      findings.push(warningAt([...path.slice(0, -1), "promptTemplate"], message, hint));
    }
    return findings;
  });
}

function checkEntry(template: LooseTemplate, members: readonly Member[], known: KnownAgents): EntryFinding[] {
  const { entryAgent, entryStage } = template;
  if (entryAgent === undefined) return [];
  const names = members.map(({ name }) => name);
  if (entryAgent !== ACTIVE_AGENT && !names.includes(entryAgent)) {
    const isEnd = names.includes(parseEndpoint(entryAgent).agent);
    const hint = isEnd ? "Name the stage with entryStage." : suggestMember(entryAgent, names);
    return [errorAt(["entryAgent"], `${quote(entryAgent)} is not one of the template's agents`, hint)];
  }
  const stages = known.get(entryAgent);
  if (entryStage === undefined || stages === undefined || stages.includes(entryStage)) return [];
  if (stages.length === 0) {
    return [warningAt(["entryStage"], `ignored because ${quote(entryAgent)} has no stages`, "Remove it.")];
  }
  return [errorAt(["entryStage"], noStage(entryAgent, entryStage), suggest(entryStage, stages))];
}

function checkEnds(
  { transitions = [] }: LooseTemplate,
  members: readonly Member[],
  known: KnownAgents,
): EntryFinding[] {
  const names = members.map(({ name }) => name);
  return transitions.flatMap((transition, index) =>
    (["from", "to"] as const).flatMap((side) => {
      const ends = endsOf(transition?.[side]);
      return ends.flatMap(({ text, step }) => {
        const path = ["transitions", index, side, ...step];
        const { agent, stage } = parseEndpoint(text);
        if (agent !== ACTIVE_AGENT && !names.includes(agent)) {
          const message = `${quote(agent)} is not one of the template's agents`;
          return [errorAt(path, message, suggestMember(agent, names))];
        }
        const isTwice = ends.filter((end) => parseEndpoint(end.text).agent === agent).length > 1;
        if (isTwice) {
          return [errorAt(path, `duplicate ${quote(agent)}`, "An agent runs one step at a time.")];
        }
        const stages = known.get(agent);
        if (stage === null || stages === undefined || stages.includes(stage)) return [];
        const hint =
          stages.length === 0 ? `Write ${quote(agent)}: it has no stages.` : suggest(stage, stages);
        return [errorAt(path, noStage(agent, stage), hint)];
      });
    }),
  );
}

function checkReached(
  { entryAgent, transitions = [] }: LooseTemplate,
  members: readonly Member[],
): EntryFinding[] {
  const ends = transitions.flatMap((transition) => endsOf(transition?.to));
  const reached = new Set([entryAgent, ...ends.map(({ text }) => parseEndpoint(text).agent)]);
  return members
    .filter(({ name }) => !reached.has(name))
    .map(({ name, path }) =>
      warningAt(path, `no transition leads to ${quote(name)}`, "Add one, or remove the agent."),
    );
}

function endsOf(
  side: string | readonly (string | undefined)[] | undefined,
): { readonly text: string; readonly step: readonly number[] }[] {
  if (side === undefined) return [];
  if (typeof side === "string") return [{ text: side, step: [] }];
  return side.flatMap((text, index) => (text === undefined ? [] : [{ text, step: [index] }]));
}

function noStage(agent: string, stage: string): string {
  return `${quote(agent)} has no stage ${quote(stage)}`;
}

function suggestMember(name: string, names: readonly string[]): string {
  return names.length === 0 ? "Add it to agents." : suggest(name, names);
}
