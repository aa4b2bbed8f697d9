/**
 * Reads the agents and templates of relays. All that is wrong is told at once; what is right can be used, so that a
 * mistake in one template is no reason to have none.
 */
import type { z } from "zod";
import type { Folders } from "../../config/config.ts";
import { suggest } from "../../model/nearest.ts";
import { type Path, type Problem, quote } from "../../config/problem.ts";
import { findMistakes } from "../../config/validate.ts";
import { type AgentEntry, agentSchema } from "./agent-schema.ts";
import { resolveStage } from "./endpoint.ts";
import { doubtful, type Finding, fromMistake, isError, wrong } from "./finding.ts";
import { isObject, type Loose, readLoosely } from "./loose.ts";
import { type Member, overridesOf, resolveAgent, resolveTemplate } from "./resolve.ts";
import { resolvePrompt, resolveTexts } from "./resolve-texts.ts";
import {
  type BindingEntry,
  bindingSchema,
  shellSchema,
  type ShellEntry,
  type TemplateEntry,
  templateSchema,
} from "./schema.ts";
import { atBinding, type BoundAgents, checkBinding, checkShell, expandShell } from "./shells.ts";
import { ACTIVE_AGENT, type RelayAgent, type RelayConfig, type RelayTemplate } from "./snapshot.ts";
import { type Entry, type EntryKind, readEntries } from "./files.ts";
import { checkAgent, checkDistinct, checkName } from "./validate-agent.ts";
import { checkConditions } from "./validate-conditions.ts";
import { checkReferences, type KnownAgents } from "./validate.ts";

export interface RelayConfigContext {
  /** The names of all profiles. */
  readonly profiles: readonly string[];
  /** Finds what is probably not meant and only all of Cortex knows, such as a tool that there is not. */
  readonly examine?: (agent: ExaminedAgent) => Promise<readonly Doubt[]>;
}

/** What an agent, or a template that overrides some of it, says. Folders of plugins are absolute. */
export interface ExaminedAgent {
  readonly profile?: string | undefined;
  readonly tools?: unknown;
  readonly claudeAgent?: string | undefined;
  readonly outputStyle?: string | undefined;
  readonly pluginDirs?: readonly string[] | undefined;
}

export interface Doubt {
  readonly path: Path;
  readonly message: string;
  readonly hint: string;
}

/** May be called again whenever a file has changed. Throws nothing that files can be the reason for. */
export async function readRelayConfig(folders: Folders, context: RelayConfigContext): Promise<RelayConfig> {
  const { entries, problems, warnings } = await readEntries(folders.config);
  const reading: Reading = { folders, ...context, problems: [...problems], warnings: [...warnings] };
  const of = (kind: EntryKind): Entry[] => entries.filter((entry) => entry.kind === kind);

  const read = of("agents").map((entry) => ({ entry, loose: readLoosely(agentSchema, entry.value) ?? {} }));
  const agents = await readAgents(read, reading);
  const known: Known = {
    agents: new Map(read.map(({ entry, loose }) => [entry.name, Object.keys(loose.stages ?? {})])),
    bound: new Map([
      [ACTIVE_AGENT, ""],
      ...read.map(({ entry, loose }) => [entry.name, resolveStage(loose, null) ?? ""] as const),
    ]),
    shells: await readShells(of("shells"), reading),
    right: agents,
  };
  const templates = new Map<string, RelayTemplate>();
  for (const entry of of("templates")) {
    const template = await readTemplate(entry, known, reading);
    if (template !== undefined) templates.set(entry.name, template);
  }
  return { agents, templates, problems: reading.problems, warnings: reading.warnings };
}

interface Reading extends RelayConfigContext {
  readonly folders: Folders;
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

interface Known {
  readonly agents: KnownAgents;
  readonly bound: BoundAgents;
  readonly shells: ReadonlyMap<string, KnownShell>;
  /** Those that can be used. */
  readonly right: ReadonlyMap<string, RelayAgent>;
}

interface KnownShell {
  readonly loose: Loose<ShellEntry>;
  /** Undefined where it is wrong. */
  readonly shell: ShellEntry | undefined;
}

/** Tells what was found. Whether the entry can be used. */
function report(entry: Entry, findings: readonly Finding[], reading: Reading): boolean {
  for (const finding of findings) {
    (isError(finding) ? reading.problems : reading.warnings).push(entry.locate(finding));
  }
  return !findings.some(isError);
}

function formOf(schema: z.ZodType, value: unknown): Finding[] {
  return findMistakes(schema, value).map(fromMistake);
}

async function readAgents(
  read: readonly { entry: Entry; loose: Loose<AgentEntry> }[],
  reading: Reading,
): Promise<Map<string, RelayAgent>> {
  const agents = new Map<string, RelayAgent>();
  const alike = checkDistinct(read.map(({ entry }) => entry.name));
  for (const { entry, loose } of read) {
    const findings = formOf(agentSchema, entry.value);
    if (isObject(entry.value)) findings.push(...checkAgent(entry.name, loose, reading));
    const twin = alike.get(entry.name);
    if (twin !== undefined) findings.push(twin);
    const { texts, findings: ofTexts } = await resolveTexts(loose, [], reading.folders);
    const prompts = new Map<string, string>();
    for (const [stage, { promptTemplate } = {}] of Object.entries(loose.stages ?? {})) {
      if (promptTemplate === undefined) continue;
      const path = ["stages", stage, "promptTemplate"];
      const given = { field: "promptTemplate", path, home: reading.folders.home } as const;
      const resolved = await resolvePrompt(promptTemplate, given);
      ofTexts.push(...resolved.findings);
      if (resolved.text !== undefined) prompts.set(stage, resolved.text);
    }
    const doubts = await findDoubts({ ...loose, pluginDirs: texts.pluginDirs }, [], reading);
    if (!report(entry, [...findings, ...ofTexts, ...doubts], reading)) continue;
    agents.set(entry.name, resolveAgent(entry.name, agentSchema.parse(loose), { texts, prompts }));
  }
  return agents;
}

async function readShells(entries: readonly Entry[], reading: Reading): Promise<Map<string, KnownShell>> {
  const shells = new Map<string, KnownShell>();
  for (const entry of entries) {
    const loose = readLoosely(shellSchema, entry.value) ?? {};
    const findings = [
      ...formOf(shellSchema, entry.value),
      ...checkName("shell", entry.name, loose),
      ...checkShell(loose),
      ...(await checkConditions(loose)),
    ];
    const isRight = report(entry, findings, reading);
    shells.set(entry.name, { loose, shell: isRight ? shellSchema.parse(loose) : undefined });
  }
  return shells;
}

async function readTemplate(
  entry: Entry,
  known: Known,
  reading: Reading,
): Promise<RelayTemplate | undefined> {
  if (isObject(entry.value) && Object.hasOwn(entry.value, "shell")) return readBinding(entry, known, reading);
  const loose = readLoosely(templateSchema, entry.value) ?? {};
  const { members, findings } = await readMembers(loose, reading);
  const all = [
    ...formOf(templateSchema, entry.value),
    ...checkName("template", entry.name, loose),
    ...checkReferences(loose, known.agents),
    ...(await checkConditions(loose)),
    ...findings,
  ];
  if (!report(entry, all, reading)) return undefined;
  return resolveTemplate(entry.name, templateSchema.parse(loose), { members, agents: known.right });
}

async function readBinding(entry: Entry, known: Known, reading: Reading): Promise<RelayTemplate | undefined> {
  const binding = entry.value as BindingEntry;
  const findings = [
    ...formOf(bindingSchema, binding),
    ...checkName("template", entry.name, readLoosely(bindingSchema, binding) ?? {}),
  ];
  const found = known.shells.get(binding.shell);
  if (found !== undefined) findings.push(...checkBinding(binding, found.loose, known.bound));
  else if (typeof binding.shell === "string" && binding.shell !== "") {
    const hint =
      known.shells.size === 0 ? "There are no shells yet." : suggest(binding.shell, [...known.shells.keys()]);
    findings.push(wrong(["shell"], `no shell is called ${quote(binding.shell)}`, hint));
  }
  if (!report(entry, findings, reading) || found?.shell === undefined) return undefined;

  const expanded = expandShell(found.shell, binding, known.bound);
  const loose = readLoosely(templateSchema, expanded) ?? {};
  const { members, findings: ofTexts } = await readMembers(loose, reading);
  const ofShell = [...checkReferences(loose, known.agents), ...ofTexts];
  const atIt = ofShell.map((finding) => atBinding(finding, binding.shell));
  if (!report(entry, atIt, reading)) return undefined;
  return resolveTemplate(entry.name, templateSchema.parse(loose), { members, agents: known.right });
}

async function findDoubts(agent: ExaminedAgent, path: Path, { examine }: Reading): Promise<Finding[]> {
  const doubts = (await examine?.(agent)) ?? [];
  return doubts.map((doubt) => doubtful([...path, ...doubt.path], doubt.message, doubt.hint));
}

/** The agents of a template with what it overrides. */
async function readMembers(
  { agents = [] }: Pick<Loose<TemplateEntry>, "agents">,
  reading: Reading,
): Promise<{ members: Member[]; findings: Finding[] }> {
  const members: Member[] = [];
  const findings: Finding[] = [];
  for (const [index, agent] of agents.entries()) {
    if (typeof agent === "string") members.push({ name: agent, overrides: {} });
    else if (agent?.ref !== undefined) {
      const { texts, findings: ofTexts } = await resolveTexts(agent, ["agents", index], reading.folders);
      const examined = { ...agent, pluginDirs: texts.pluginDirs };
      findings.push(...ofTexts, ...(await findDoubts(examined, ["agents", index], reading)));
      members.push({ name: agent.ref, overrides: overridesOf(agent, texts) });
    }
  }
  return { members, findings };
}
