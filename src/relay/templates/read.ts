/**
 * Reads the agents and templates of relays. It reports all mistakes at once; valid entries stay usable, so a mistake in
 * one template does not disable the others.
 */
import type { z } from "zod";
import type { Folders } from "../../config/config.ts";
import { suggest } from "../../model/nearest.ts";
import { type Mistake, type Path, type Problem, quote } from "../../config/problem.ts";
import { findMistakes } from "../../config/validate.ts";
import { resolveStage } from "./endpoint.ts";
import { type EntryFinding, errorAt, fromMistake, isError, warningAt } from "./finding.ts";
import { isObject, type Loose, readLoosely } from "./loose.ts";
import { overridesOf, resolveAgent, resolveTemplate, type TemplateMember } from "./resolve.ts";
import { resolvePrompt, resolveTexts } from "./resolve-texts.ts";
import {
  type AgentEntry,
  bindingSchema,
  relayAgentSchema,
  shellSchema,
  type ShellEntry,
  type TemplateEntry,
  templateSchema,
} from "./schema.ts";
import { atBinding, type BoundAgents, checkBinding, checkShell, expandShell } from "./shells.ts";
import { ACTIVE_AGENT, type RelayAgent, type RelayConfig, type RelayTemplate } from "./snapshot.ts";
import { type EntryKind, readEntries, type RelayEntry } from "./files.ts";
import { checkDistinct, checkName, checkRelayAgent } from "./validate-agent.ts";
import { checkConditions } from "./validate-conditions.ts";
import { checkReferences, type KnownAgents } from "./validate.ts";

export interface RelayConfigContext {
  /** The names of all profiles. */
  readonly profiles: readonly string[];
  /** Finds probable mistakes that need knowledge of the rest of Cortex, such as unknown tools. */
  readonly examine?: (agent: ExaminedAgent) => Promise<readonly AgentWarning[]>;
}

/** An agent, or the overrides of a template. Its plugin folders are absolute. */
export interface ExaminedAgent {
  readonly profile?: string | undefined;
  readonly tools?: unknown;
  readonly claudeAgent?: string | undefined;
  readonly outputStyle?: string | undefined;
  readonly pluginDirs?: readonly string[] | undefined;
}

export type AgentWarning = Omit<Mistake, "at">;

/** Never throws because of the content of files. */
export async function readRelayConfig(folders: Folders, context: RelayConfigContext): Promise<RelayConfig> {
  const { entries, problems, warnings } = await readEntries(folders.config);
  const reading: Reading = { folders, ...context, problems: [...problems], warnings: [...warnings] };
  const of = (kind: EntryKind): RelayEntry[] => entries.filter((entry) => entry.kind === kind);

  const read = of("agents").map((entry) => ({
    entry,
    loose: readLoosely(relayAgentSchema, entry.value) ?? {},
  }));
  const agents = await readAgents(read, reading);
  const known: Known = {
    agents: new Map(read.map(({ entry, loose }) => [entry.name, Object.keys(loose.stages ?? {})])),
    bound: new Map([
      [ACTIVE_AGENT, ""],
      ...read.map(({ entry, loose }) => [entry.name, resolveStage(loose, null) ?? ""] as const),
    ]),
    shells: await readShells(of("shells"), reading),
    usable: agents,
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
  readonly usable: ReadonlyMap<string, RelayAgent>;
}

interface KnownShell {
  readonly loose: Loose<ShellEntry>;
  /** Undefined: invalid. */
  readonly shell: ShellEntry | undefined;
}

/** Returns whether the entry is usable. */
function report(entry: RelayEntry, findings: readonly EntryFinding[], reading: Reading): boolean {
  for (const finding of findings) {
    (isError(finding) ? reading.problems : reading.warnings).push(entry.locate(finding));
  }
  return !findings.some(isError);
}

function checkForm(schema: z.ZodType, value: unknown): EntryFinding[] {
  return findMistakes(schema, value).map(fromMistake);
}

async function readAgents(
  read: readonly { entry: RelayEntry; loose: Loose<AgentEntry> }[],
  reading: Reading,
): Promise<Map<string, RelayAgent>> {
  const agents = new Map<string, RelayAgent>();
  const alike = checkDistinct(read.map(({ entry }) => entry.name));
  for (const { entry, loose } of read) {
    const findings = checkForm(relayAgentSchema, entry.value);
    if (isObject(entry.value)) findings.push(...checkRelayAgent(entry.name, loose, reading));
    const twin = alike.get(entry.name);
    if (twin !== undefined) findings.push(twin);
    const { texts, findings: ofTexts } = await resolveTexts(loose, [], reading.folders);
    const prompts = new Map<string, string>();
    for (const [stage, { promptTemplate } = {}] of Object.entries(loose.stages ?? {})) {
      if (promptTemplate === undefined) continue;
      const path = ["stages", stage, "promptTemplate"];
      const { home } = reading.folders;
      const resolved = await resolvePrompt(promptTemplate, { field: "promptTemplate", path, home });
      ofTexts.push(...resolved.findings);
      if (resolved.text !== undefined) prompts.set(stage, resolved.text);
    }
    const warnings = await examine({ ...loose, pluginDirs: texts.pluginDirs }, [], reading);
    if (!report(entry, [...findings, ...ofTexts, ...warnings], reading)) continue;
    agents.set(entry.name, resolveAgent(entry.name, relayAgentSchema.parse(loose), { texts, prompts }));
  }
  return agents;
}

async function readShells(
  entries: readonly RelayEntry[],
  reading: Reading,
): Promise<Map<string, KnownShell>> {
  const shells = new Map<string, KnownShell>();
  for (const entry of entries) {
    const loose = readLoosely(shellSchema, entry.value) ?? {};
    const findings = [
      ...checkForm(shellSchema, entry.value),
      ...checkName("shell", entry.name, loose),
      ...checkShell(loose),
      ...(await checkConditions(loose)),
    ];
    const isUsable = report(entry, findings, reading);
    shells.set(entry.name, { loose, shell: isUsable ? shellSchema.parse(loose) : undefined });
  }
  return shells;
}

async function readTemplate(
  entry: RelayEntry,
  known: Known,
  reading: Reading,
): Promise<RelayTemplate | undefined> {
  const { value } = entry;
  if (isObject(value) && Object.hasOwn(value, "shell")) return readBinding(entry, value, known, reading);
  const loose = readLoosely(templateSchema, value) ?? {};
  const { members, findings } = await readMembers(loose, reading);
  const all = [
    ...checkForm(templateSchema, value),
    ...checkName("template", entry.name, loose),
    ...checkReferences(loose, known.agents),
    ...(await checkConditions(loose)),
    ...findings,
  ];
  if (!report(entry, all, reading)) return undefined;
  return resolveTemplate(entry.name, templateSchema.parse(loose), { members, agents: known.usable });
}

async function readBinding(
  entry: RelayEntry,
  value: Readonly<Record<string, unknown>>,
  known: Known,
  reading: Reading,
): Promise<RelayTemplate | undefined> {
  const findings = [
    ...checkForm(bindingSchema, value),
    ...checkName("template", entry.name, readLoosely(bindingSchema, value) ?? {}),
  ];
  const name = typeof value["shell"] === "string" ? value["shell"] : "";
  const found = known.shells.get(name);
  if (found !== undefined) findings.push(...checkBinding(value, found.loose, known.bound));
  else if (name !== "") {
    const hint =
      known.shells.size === 0 ? "No shells are defined yet." : suggest(name, [...known.shells.keys()]);
    findings.push(errorAt(["shell"], `unknown shell ${quote(name)}`, hint));
  }
  if (!report(entry, findings, reading) || found?.shell === undefined) return undefined;

  const expanded = expandShell(found.shell, bindingSchema.parse(value), known.bound);
  const loose = readLoosely(templateSchema, expanded) ?? {};
  const { members, findings: ofTexts } = await readMembers(loose, reading);
  const ofShell = [...checkReferences(loose, known.agents), ...ofTexts];
  const atIt = ofShell.map((finding) => atBinding(finding, name));
  if (!report(entry, atIt, reading)) return undefined;
  return resolveTemplate(entry.name, templateSchema.parse(loose), { members, agents: known.usable });
}

async function examine(agent: ExaminedAgent, path: Path, reading: Reading): Promise<EntryFinding[]> {
  const warnings = (await reading.examine?.(agent)) ?? [];
  return warnings.map((warning) => warningAt([...path, ...warning.path], warning.message, warning.hint));
}

/** The agents of a template with its overrides. */
async function readMembers(
  { agents = [] }: Pick<Loose<TemplateEntry>, "agents">,
  reading: Reading,
): Promise<{ members: TemplateMember[]; findings: EntryFinding[] }> {
  const members: TemplateMember[] = [];
  const findings: EntryFinding[] = [];
  for (const [index, agent] of agents.entries()) {
    if (typeof agent === "string") members.push({ name: agent, overrides: {} });
    else if (agent?.ref !== undefined) {
      const { texts, findings: ofTexts } = await resolveTexts(agent, ["agents", index], reading.folders);
      const examined = { ...agent, pluginDirs: texts.pluginDirs };
      findings.push(...ofTexts, ...(await examine(examined, ["agents", index], reading)));
      members.push({ name: agent.ref, overrides: overridesOf(agent, texts) });
    }
  }
  return { members, findings };
}
