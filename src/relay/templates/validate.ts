/** What must fit together within a template: agents, stages, ends of transitions. */
import { suggest } from "../../model/nearest.ts";
import { type Path, quote } from "../../config/problem.ts";
import { parseEndpoint } from "./endpoint.ts";
import { doubtful, type Finding, wrong } from "./finding.ts";
import type { Loose } from "./loose.ts";
import type { TemplateEntry } from "./schema.ts";
import { ACTIVE_AGENT } from "./snapshot.ts";

/** The stages of every agent there is, also of those that are wrong in themselves. */
export type KnownAgents = ReadonlyMap<string, readonly string[]>;

type LooseTemplate = Omit<Loose<TemplateEntry>, "$schema" | "name">;

export function checkReferences(template: LooseTemplate, known: KnownAgents): Finding[] {
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

function checkMembers(members: readonly Member[], known: KnownAgents): Finding[] {
  return members.flatMap(({ name, path, hasPrompt }, index) => {
    const findings: Finding[] = [];
    if (name !== ACTIVE_AGENT && !known.has(name)) {
      const hint = known.size === 0 ? "There are no agents yet." : suggest(name, [...known.keys()]);
      findings.push(wrong(path, `no agent is called ${quote(name)}`, hint));
    }
    if (members.findIndex((member) => member.name === name) < index) {
      findings.push(
        wrong(path, `${quote(name)} is there twice`, "An agent takes part once, in any number of steps."),
      );
    }
    if (hasPrompt && (known.get(name)?.length ?? 0) > 0) {
      const hint = "Leave it out: stages cannot be overridden.";
      const message = "is not used, because the agent has stages";
      findings.push(doubtful([...path.slice(0, -1), "promptTemplate"], message, hint));
    }
    return findings;
  });
}

function checkEntry(template: LooseTemplate, members: readonly Member[], known: KnownAgents): Finding[] {
  const { entryAgent, entryStage } = template;
  if (entryAgent === undefined) return [];
  const names = members.map(({ name }) => name);
  if (entryAgent !== ACTIVE_AGENT && !names.includes(entryAgent)) {
    const isEnd = names.includes(parseEndpoint(entryAgent).agent);
    const hint = isEnd ? "Name the stage with entryStage." : suggestMember(entryAgent, names);
    return [wrong(["entryAgent"], `${quote(entryAgent)} is not one of the template's agents`, hint)];
  }
  const stages = known.get(entryAgent);
  if (entryStage === undefined || stages === undefined || stages.includes(entryStage)) return [];
  if (stages.length === 0) {
    const message = `is not used, because ${quote(entryAgent)} has no stages`;
    return [doubtful(["entryStage"], message, "Leave it out.")];
  }
  return [wrong(["entryStage"], noStage(entryAgent, entryStage), suggest(entryStage, stages))];
}

function checkEnds(
  { transitions = [] }: LooseTemplate,
  members: readonly Member[],
  known: KnownAgents,
): Finding[] {
  const names = members.map(({ name }) => name);
  return transitions.flatMap((transition, index) =>
    (["from", "to"] as const).flatMap((side) => {
      const ends = endsOf(transition?.[side]);
      return ends.flatMap(({ text, step }) => {
        const path = ["transitions", index, side, ...step];
        const { agent, stage } = parseEndpoint(text);
        if (agent !== ACTIVE_AGENT && !names.includes(agent)) {
          const message = `${quote(agent)} is not one of the template's agents`;
          return [wrong(path, message, suggestMember(agent, names))];
        }
        const isTwice = ends.filter((end) => parseEndpoint(end.text).agent === agent).length > 1;
        if (isTwice) {
          return [wrong(path, `${quote(agent)} is there twice`, "One agent does one thing at a time.")];
        }
        const stages = known.get(agent);
        if (stage === null || stages === undefined || stages.includes(stage)) return [];
        const hint =
          stages.length === 0 ? `Write ${quote(agent)}: it has no stages.` : suggest(stage, stages);
        return [wrong(path, noStage(agent, stage), hint)];
      });
    }),
  );
}

function checkReached(
  { entryAgent, transitions = [] }: LooseTemplate,
  members: readonly Member[],
): Finding[] {
  const ends = transitions.flatMap((transition) => endsOf(transition?.to));
  const reached = new Set([entryAgent, ...ends.map(({ text }) => parseEndpoint(text).agent)]);
  return members
    .filter(({ name }) => !reached.has(name))
    .map(({ name, path }) =>
      doubtful(path, `nothing leads to ${quote(name)}`, "Add a transition to it, or leave it out."),
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
