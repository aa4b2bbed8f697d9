/** Resolves the files that an agent or its overrides refer to: prompts and plugin folders. */
import { stat } from "node:fs/promises";
import { isAbsolute, join, normalize, resolve, sep } from "node:path";
import type { Folders } from "../../config/config.ts";
import { suggest } from "../../model/nearest.ts";
import { type Path, quote } from "../../config/problem.ts";
import { codeOf } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import { type EntryFinding, errorAt, warningAt } from "./finding.ts";
import { PROMPT_FIELDS, type PromptField, readPrompt } from "../prompts/files.ts";
import {
  findNotReplaced,
  findUnknown,
  RUNTIME_VARIABLES,
  SYSTEM_VARIABLES,
} from "../prompts/runtime-variables.ts";
import type { RelayOverrides } from "./snapshot.ts";

interface Referring extends Partial<Readonly<Record<PromptField, string | undefined>>> {
  readonly pluginDirs?: readonly (string | undefined)[] | undefined;
}

type Texts = Pick<RelayOverrides, PromptField | "pluginDirs">;

/** Resolves the fields that are present. An invalid one is reported and left out. */
export async function resolveTexts(
  { pluginDirs, ...fields }: Referring,
  path: Path,
  folders: Folders,
): Promise<{ texts: Texts; findings: EntryFinding[] }> {
  const texts: { -readonly [Field in keyof Texts]: Texts[Field] } = {};
  const findings: EntryFinding[] = [];
  for (const field of PROMPT_FIELDS) {
    const value = fields[field];
    if (value === undefined) continue;
    const resolved = await resolvePrompt(value, { field, path: [...path, field], home: folders.home });
    findings.push(...resolved.findings);
    if (resolved.text !== undefined) texts[field] = resolved.text;
  }
  if (pluginDirs !== undefined) {
    const dirs: string[] = [];
    for (const [index, dir] of pluginDirs.entries()) {
      if (dir === undefined) continue;
      const resolved = absolute(dir, folders);
      const problem = await problemWith(dir, resolved, folders);
      if (problem !== undefined) findings.push(errorAt([...path, "pluginDirs", index], ...problem));
      dirs.push(resolved);
    }
    texts.pluginDirs = dirs;
  }
  return { texts, findings };
}

export async function resolvePrompt(
  value: string,
  { field, path, home }: { field: PromptField; path: Path; home: string },
): Promise<{ text?: string; findings: EntryFinding[] }> {
  try {
    const { text, warnings } = await readPrompt(value, field, home);
    const doubts = warnings.map((warning) => warningAt(path, warning, "Check the file."));
    return { text, findings: [...doubts, ...checkVariables(text, field, path)] };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    return { findings: [errorAt(path, error.message, error.hint)] };
  }
}

function checkVariables(text: string, field: PromptField, path: Path): EntryFinding[] {
  if (field === "promptTemplate") {
    return findUnknown(text).map(({ name, line }) => {
      const where = line === 1 ? "" : ` on line ${line}`;
      if (name === "/if") return errorAt(path, `{{/if}}${where} has no {{#if}}`, "Remove it.");
      if (name.startsWith("#")) return errorAt(path, `{{${name}}}${where} is not closed`, "Add {{/if}}.");
      return errorAt(path, `unknown variable {{${name}}}${where}`, suggest(name, RUNTIME_VARIABLES));
    });
  }
  const hint = `Only ${SYSTEM_VARIABLES.map((name) => `{{${name}}}`).join(" and ")} are replaced here.`;
  return findNotReplaced(text).map((name) => warningAt(path, `{{${name}}} is not replaced`, hint));
}

function absolute(dir: string, { home, user }: Folders): string {
  return user !== undefined && /^~(\/|$)/.test(dir) ? join(user, dir.slice(1)) : resolve(home, dir);
}

async function problemWith(
  dir: string,
  resolved: string,
  { home }: Folders,
): Promise<[message: string, hint: string] | undefined> {
  if (!isAbsolute(dir) && normalize(dir).split(sep)[0] === "..") {
    return [`${quote(dir)} is outside the home`, `If that is intended, write ${quote(resolved)}.`];
  }
  try {
    if ((await stat(resolved)).isDirectory()) return undefined;
    return [`${quote(dir)} is not a folder`, "A plugin is a folder."];
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") {
      return [`the folder ${quote(dir)} does not exist`, `Relative paths start from ${home}.`];
    }
    return [`cannot access ${quote(dir)} (${code ?? String(error)})`, "Check its permissions."];
  }
}
