/** What must be right about an agent besides its form. */
import { suggest } from "../../model/nearest.ts";
import { quote } from "../../config/problem.ts";
import { ACTIVE_PROFILE } from "../../model/profile.ts";
import { isThreadCommand } from "./endpoint.ts";
import { doubtful, type Finding, wrong } from "./finding.ts";
import type { Loose } from "./loose.ts";
import type { AgentEntry } from "./agent-schema.ts";
import { ACTIVE_AGENT } from "./snapshot.ts";

/** It is a part of session keys and the first word after `!thread`. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

/** As `scriptSlot` makes them. */
const SCRIPT_SLOT = /^hook-(?:start|transition|end)$/i;

export function checkName(
  kind: "agent" | "template" | "shell",
  key: string,
  { name }: { readonly name?: string | undefined },
): Finding[] {
  const findings: Finding[] = [];
  if (!NAME.test(key) || key === ACTIVE_AGENT) {
    const hint = "A name has 1 to 64 letters, digits, - and _, and starts with a letter or digit.";
    findings.push({
      ...wrong([], `${quote(key)} is not the name of ${kind === "agent" ? "an" : "a"} ${kind}`, hint),
      at: "key",
    });
  } else if (kind !== "shell" && isThreadCommand(key)) {
    // What follows `!thread` as a command cannot be the name of something that is started by it.
    const message = `${quote(key)} is a command of !thread`;
    findings.push({ ...wrong([], message, "Give it another name."), at: "key" });
  }
  if (kind === "agent" && SCRIPT_SLOT.test(key)) {
    const message = `${quote(key)} is the name of the agents that relay scripts insert`;
    findings.push({ ...wrong([], message, "Give it another name."), at: "key" });
  }
  if (name !== undefined && name !== key) {
    const message = `${quote(name)} is not ${quote(key)}, as its key or file is called`;
    findings.push(wrong(["name"], message, "Leave it out, or rename one of them."));
  }
  return findings;
}

export function checkAgent(
  name: string,
  agent: Loose<AgentEntry>,
  known: { readonly profiles: readonly string[] },
): Finding[] {
  const { profile } = agent;
  const profiles = [ACTIVE_PROFILE, ...known.profiles];
  const findings = checkName("agent", name, agent);
  if (profile !== undefined && !profiles.includes(profile)) {
    findings.push(wrong(["profile"], `no profile is called ${quote(profile)}`, suggest(profile, profiles)));
  }
  return [...findings, ...checkStages(agent)];
}

function checkStages({ stages, entryStage, promptTemplate }: Loose<AgentEntry>): Finding[] {
  const names = Object.keys(stages ?? {});
  const findings: Finding[] = [];
  if (entryStage !== undefined && !names.includes(entryStage)) {
    const hint = names.length === 0 ? "Declare stages, or leave it out." : suggest(entryStage, names);
    findings.push(wrong(["entryStage"], `no stage is called ${quote(entryStage)}`, hint));
  }
  if (entryStage === undefined && names.length > 1) {
    const message = `the agent begins with ${quote(names[0])}, the first`;
    findings.push(doubtful(["stages"], message, "Say so with entryStage."));
  }
  if (stages !== undefined && names.length === 0) {
    findings.push(doubtful(["stages"], "has no stages", "Leave it out."));
  }
  if (names.length > 0 && promptTemplate !== undefined) {
    const hint = "Leave it out: each stage has a promptTemplate of its own.";
    findings.push(doubtful(["promptTemplate"], "is not used, because there are stages", hint));
  }
  if (stages === undefined && promptTemplate === undefined) {
    const hint = "It is asked {{input}}: the message, or what the agent before it answered.";
    findings.push(doubtful([], "has neither promptTemplate nor stages", hint));
  }
  return findings;
}

/** Sessions do not tell capital letters from small ones. */
export function checkDistinct(names: readonly string[]): ReadonlyMap<string, Finding> {
  const seen = new Map<string, string>();
  const findings = new Map<string, Finding>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other === undefined) seen.set(name.toLowerCase(), name);
    else {
      const message = `${quote(name)} and ${quote(other)} differ only in capital letters`;
      findings.set(name, { ...wrong([], message, "Give one of them another name."), at: "key" });
    }
  }
  return findings;
}
