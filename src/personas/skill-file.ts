/** One SKILL.md, by the rules of the Agent Skills format. */
import { MAX_FRONTMATTER_LENGTH, parseFrontmatter, splitFrontmatter } from "../model/frontmatter.ts";

export const MAX_SKILL_NAME_LENGTH = 64;
export const MAX_DESCRIPTION_LENGTH = 1_024;
export const MAX_COMPATIBILITY_LENGTH = 500;

export interface SkillHead {
  readonly name: string;
  /** What it is for, on one line. */
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Tools that its author expects it to use. They are allowed by nothing but the permissions. */
  readonly allowedTools?: readonly string[];
}

export interface CheckedSkill {
  /** Absent: it breaks a rule, and is not used. */
  readonly head?: SkillHead;
  /** What is wrong with it, each a sentence without a full stop. */
  readonly problems: readonly string[];
  /** What is passed over. */
  readonly notes: readonly string[];
}

const FIELDS = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"]);

/** Checks the beginning of a SKILL.md that lies in a folder of this name. */
export function checkSkill(text: string, folder: string): CheckedSkill {
  const split = splitFrontmatter(text, text.startsWith("\uFEFF") ? 1 : 0);
  if (split.kind !== "closed" || split.end - split.start > MAX_FRONTMATTER_LENGTH)
    return broken(
      `it does not start with YAML frontmatter between --- lines of at most ${MAX_FRONTMATTER_LENGTH / 1024} KiB`,
    );
  const yaml = text.slice(split.start, split.end);
  const parsed = parseFrontmatter(yaml, { schema: "failsafe", resolvesAliases: false });
  if (parsed.kind === "invalid") return broken(`its frontmatter ${parsed.message}`);
  const fields: unknown = parsed.document.toJS({ maxAliasCount: 0 });
  return isMap(fields) ? checkFields(fields, folder) : broken("its frontmatter is not a YAML mapping");
}

/** All values are texts: nobody means a number by a version. */
type Fields = Readonly<Record<string, unknown>>;

function checkFields(fields: Fields, folder: string): CheckedSkill {
  const problems = [
    ...nameProblems(fields["name"], folder),
    ...textProblems("description", fields["description"], MAX_DESCRIPTION_LENGTH),
    ...(fields["license"] === undefined ? [] : textProblems("license", fields["license"], Infinity)),
    ...(fields["compatibility"] === undefined
      ? []
      : textProblems("compatibility", fields["compatibility"], MAX_COMPATIBILITY_LENGTH)),
    ...metadataProblems(fields["metadata"]),
    ...toolsProblems(fields["allowed-tools"]),
  ];
  const unknown = Object.keys(fields).filter((field) => !FIELDS.has(field));
  const notes = unknown.length === 0 ? [] : [`unknown fields: ${unknown.join(", ")}`];
  return problems.length > 0 ? { problems, notes } : { head: toHead(fields), problems, notes };
}

const NAME = /^[\p{Ll}\p{Lo}\p{M}\p{Nd}]+(?:-[\p{Ll}\p{Lo}\p{M}\p{Nd}]+)*$/u;

function nameProblems(name: unknown, folder: string): string[] {
  if (typeof name !== "string" || name === "") return ["it has no name"];
  const shown = JSON.stringify(name.slice(0, 2 * MAX_SKILL_NAME_LENGTH));
  if (name.length > MAX_SKILL_NAME_LENGTH)
    return [`its name ${shown} has more than ${MAX_SKILL_NAME_LENGTH} characters`];
  if (!NAME.test(name.normalize("NFKC")))
    return [`its name ${shown} is invalid: use lowercase letters and digits with single hyphens`];
  return name.normalize("NFKC") === folder.normalize("NFKC")
    ? []
    : [`its name ${shown} differs from its folder ${JSON.stringify(folder)}`];
}

function textProblems(field: string, value: unknown, maxLength: number): string[] {
  if (typeof value !== "string" || value.trim() === "") return [`its ${field} is missing or not a string`];
  return value.length > maxLength ? [`its ${field} has more than ${maxLength} characters`] : [];
}

function metadataProblems(metadata: unknown): string[] {
  if (metadata === undefined) return [];
  const isPlain = isMap(metadata) && Object.values(metadata).every((value) => typeof value === "string");
  return isPlain ? [] : ["its metadata is not a mapping of strings"];
}

/** The format has one text with spaces in it; Claude Code also takes a list. */
function toolsProblems(tools: unknown): string[] {
  const isList = Array.isArray(tools) && tools.every((tool) => typeof tool === "string");
  return tools === undefined || typeof tools === "string" || isList
    ? []
    : ["its allowed-tools is neither a space-separated string nor a list"];
}

function toHead(fields: Fields): SkillHead {
  const { name, description, license, compatibility, metadata } = fields as Readonly<Record<string, string>>;
  const tools = fields["allowed-tools"] as string | readonly string[] | undefined;
  const allowedTools = typeof tools === "string" ? tools.split(/\s+/).filter((tool) => tool !== "") : tools;
  return {
    name: name!.normalize("NFKC"),
    description: description!.replaceAll(/\s+/g, " ").trim(),
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    ...(metadata === undefined ? {} : { metadata: metadata as unknown as Record<string, string> }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
  };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function broken(problem: string): CheckedSkill {
  return { problems: [problem], notes: [] };
}
