/** Checks of an agent beyond its schema. */
import { suggest } from "../../model/nearest.ts";
import { quote } from "../../config/problem.ts";
import { ACTIVE_PROFILE } from "../../model/profile.ts";
import { isThreadCommand } from "./endpoint.ts";
import { type EntryFinding, errorAt, warningAt } from "./finding.ts";
import type { Loose } from "./loose.ts";
import type { AgentEntry } from "./schema.ts";
import { ACTIVE_AGENT } from "./snapshot.ts";

/** A name is part of session keys and the first word after `!thread`. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

/** Names made by `scriptSlot`. */
const SCRIPT_SLOT = /^hook-(?:start|transition|end)$/i;

export function checkName(
  kind: "agent" | "template" | "shell",
  key: string,
  { name }: { readonly name?: string | undefined },
): EntryFinding[] {
  const findings: EntryFinding[] = [];
  if (!NAME.test(key) || key === ACTIVE_AGENT) {
    const hint = "A name has 1 to 64 letters, digits, - and _, and starts with a letter or digit.";
    findings.push(errorAtKey(`invalid ${kind} name ${quote(key)}`, hint));
  } else if (kind !== "shell" && isThreadCommand(key))
    findings.push(errorAtKey(`${quote(key)} is a !thread command`, "Choose another name."));
  if (kind === "agent" && SCRIPT_SLOT.test(key))
    findings.push(errorAtKey(`${quote(key)} is reserved for relay scripts`, "Choose another name."));
  if (name !== undefined && name !== key) {
    const message = `${quote(name)} does not match its key or file name ${quote(key)}`;
    findings.push(errorAt(["name"], message, "Remove it, or rename one of them."));
  }
  return findings;
}

function errorAtKey(message: string, hint: string): EntryFinding {
  return { ...errorAt([], message, hint), at: "key" };
}

export function checkRelayAgent(
  name: string,
  agent: Loose<AgentEntry>,
  known: { readonly profiles: readonly string[] },
): EntryFinding[] {
  const { profile } = agent;
  const profiles = [ACTIVE_PROFILE, ...known.profiles];
  const findings = checkName("agent", name, agent);
  if (profile !== undefined && !profiles.includes(profile)) {
    findings.push(errorAt(["profile"], `unknown profile ${quote(profile)}`, suggest(profile, profiles)));
  }
  return [...findings, ...checkStages(agent)];
}

function checkStages({ stages, entryStage, promptTemplate }: Loose<AgentEntry>): EntryFinding[] {
  const names = Object.keys(stages ?? {});
  const findings: EntryFinding[] = [];
  if (entryStage !== undefined && !names.includes(entryStage)) {
    const hint = names.length === 0 ? "Declare stages, or remove it." : suggest(entryStage, names);
    findings.push(errorAt(["entryStage"], `unknown stage ${quote(entryStage)}`, hint));
  }
  if (entryStage === undefined && names.length > 1) {
    const message = `without entryStage the agent starts with the first, ${quote(names[0])}`;
    findings.push(warningAt(["stages"], message, "Set entryStage."));
  }
  if (stages !== undefined && names.length === 0) {
    findings.push(warningAt(["stages"], "has no stages", "Remove it."));
  }
  if (names.length > 0 && promptTemplate !== undefined) {
    const hint = "Remove it: each stage has its own promptTemplate.";
    findings.push(warningAt(["promptTemplate"], "ignored because the agent has stages", hint));
  }
  if (stages === undefined && promptTemplate === undefined) {
    const hint = "Its prompt is then {{input}}: the message, or the previous agent's answer.";
    findings.push(warningAt([], "has neither promptTemplate nor stages", hint));
  }
  return findings;
}

/** Session keys are case-insensitive. */
export function checkDistinct(names: readonly string[]): ReadonlyMap<string, EntryFinding> {
  const seen = new Map<string, string>();
  const findings = new Map<string, EntryFinding>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other === undefined) seen.set(name.toLowerCase(), name);
    else {
      const message = `${quote(name)} and ${quote(other)} differ only in case`;
      findings.set(name, errorAtKey(message, "Rename one of them."));
    }
  }
  return findings;
}
