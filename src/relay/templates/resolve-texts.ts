/** What an agent or an override of it refers to on the disk: texts of prompts, folders of plugins. */
import { stat } from "node:fs/promises";
import { isAbsolute, join, normalize, resolve, sep } from "node:path";
import type { Folders } from "../../config/config.ts";
import { suggest } from "../../model/nearest.ts";
import { type Path, quote } from "../../config/problem.ts";
import { CortexError } from "../../model/errors.ts";
import { doubtful, type Finding, wrong } from "./finding.ts";
import { PROMPT_FOLDERS, type PromptField, readPrompt } from "../prompts/files.ts";
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

/** The fields that are there, resolved. Where something is wrong, findings say so and the field is left out. */
export async function resolveTexts(
  { pluginDirs, ...fields }: Referring,
  path: Path,
  folders: Folders,
): Promise<{ texts: Texts; findings: Finding[] }> {
  const texts: { -readonly [Field in keyof Texts]: Texts[Field] } = {};
  const findings: Finding[] = [];
  for (const field of Object.keys(PROMPT_FOLDERS) as PromptField[]) {
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
      if (problem !== undefined) findings.push(wrong([...path, "pluginDirs", index], ...problem));
      dirs.push(resolved);
    }
    texts.pluginDirs = dirs;
  }
  return { texts, findings };
}

export async function resolvePrompt(
  value: string,
  { field, path, home }: { field: PromptField; path: Path; home: string },
): Promise<{ text?: string; findings: Finding[] }> {
  try {
    const { text, warnings } = await readPrompt(value, field, home);
    const doubts = warnings.map((warning) => doubtful(path, warning, "Check what the file says."));
    return { text, findings: [...doubts, ...checkVariables(text, field, path)] };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    return { findings: [wrong(path, error.message, error.hint)] };
  }
}

function checkVariables(text: string, field: PromptField, path: Path): Finding[] {
  if (field === "promptTemplate") {
    return findUnknown(text).map(({ name, line }) => {
      const where = line === 1 ? "" : ` on line ${line}`;
      if (name === "/if") return wrong(path, `{{/if}}${where} has no {{#if}} before it`, "Remove it.");
      if (name.startsWith("#"))
        return wrong(path, `{{${name}}}${where} has no end`, "Add {{/if}} where it ends.");
      return wrong(path, `no variable is called {{${name}}}${where}`, suggest(name, RUNTIME_VARIABLES));
    });
  }
  const hint = `Here, only ${SYSTEM_VARIABLES.map((name) => `{{${name}}}`).join(" and ")} are replaced.`;
  return findNotReplaced(text).map((name) => doubtful(path, `{{${name}}} stays as it is`, hint));
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
    return [`${quote(dir)} leads out of the home`, `If this is meant, write ${quote(resolved)}.`];
  }
  try {
    if ((await stat(resolved)).isDirectory()) return undefined;
    return [`${quote(dir)} is not a folder`, "A plugin is a folder."];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return [`there is no folder ${quote(dir)}`, `Paths are from ${home} where they are relative.`];
    }
    return [`${quote(dir)} cannot be looked at (${code ?? String(error)})`, "Check its permissions."];
  }
}
