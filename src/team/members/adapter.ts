/**
 * Writes instructions into a member's project, in the file where its runtime looks for them, so that agents of other runtimes
 * can take part in the team. Everything is computed before anything is written, writing is idempotent, and removing restores
 * the files byte for byte.
 */
import { join } from "node:path";
import { CortexError } from "../../model/errors.ts";
import { type ProjectFile, readProjectFile, removeEmptyFolders, writeProjectFile } from "./adapter-files.ts";
import {
  PRECHECK_MARK,
  precheckScript,
  type AdapterMember,
  protocolText,
  type Rhythm,
} from "./adapter-text.ts";
import { findMarkedSection, putSection, takeSection } from "./marked-section.ts";
import { addPromptHook, newSettings, removePromptHook } from "./prompt-hook.ts";

export type AdapterRuntime = keyof typeof RUNTIMES;

/** Where each runtime looks for instructions, and its command line for one prompt. */
const RUNTIMES = {
  "claude-code": { file: ".cortex.md", run: undefined },
  cursor: { file: ".cursorrules", run: undefined },
  codex: { file: "AGENTS.md", run: "codex exec" },
  gemini: { file: "GEMINI.md", run: "gemini -p" },
  opencode: { file: "AGENTS.md", run: "opencode run" },
  generic: { file: ".cortex.md", run: undefined },
} as const;

export const ADAPTER_RUNTIMES = Object.keys(RUNTIMES).filter(isRuntime);

export interface AdapterFile {
  /** Relative to the project. */
  readonly path: string;
  /** kept: the content is the same, or the file is not ours. */
  readonly action: "written" | "changed" | "kept" | "removed";
}

const CLAUDE_NOTE = "CLAUDE.local.md";
const CLAUDE_SETTINGS = ".claude/settings.json";
const PRECHECK = ".claude/hooks/cortex-precheck.sh";
const SECTIONS = [...new Set(Object.values(RUNTIMES).map(({ file }) => file)), CLAUDE_NOTE];

/** Throws `request_invalid` for an unknown runtime. */
export function toRuntime(name: string): AdapterRuntime {
  if (isRuntime(name)) return name;
  throw new CortexError("request_invalid", `No adapter for runtime ${JSON.stringify(name)}`, {
    hint: `Use one of ${ADAPTER_RUNTIMES.join(", ")}; generic works for any other runtime.`,
  });
}

function isRuntime(name: string): name is AdapterRuntime {
  return Object.hasOwn(RUNTIMES, name);
}

/**
 * Throws `state_conflict` if the files have another member's instructions or are malformed, `path_forbidden`,
 * `team_unreadable` and `team_unwritable`. Only the last can leave some files written.
 */
export async function writeAdapter({
  runtime,
  member,
  rhythm,
}: {
  runtime: AdapterRuntime;
  member: AdapterMember;
  rhythm: Rhythm;
}): Promise<AdapterFile[]> {
  const { file: path, run } = RUNTIMES[runtime];
  const { project, slug, teamRoot } = member;
  for (const folder of [project, teamRoot]) requirePrintable(folder);
  const main = await readProjectFile(project, path);
  const content = `${ownerLine(slug)}\n${protocolText(member, rhythm, { file: path, run })}`;
  const changes: Change[] = [{ file: main, text: withSection(main, content, slug) }];
  if (runtime === "claude-code") {
    changes.push(await claudeNote(project, slug));
    if (!member.isCoordinator) {
      const tasks = join(teamRoot, "agents", slug, "tasks.md");
      changes.push(...(await idleSuppression(project, precheckScript({ slug, tasks }))));
    }
  }
  return apply(changes);
}

/** Removes everything that adapters have written for this member. Idempotent. */
export async function removeAdapters({
  project,
  slug,
}: {
  project: string;
  slug: string;
}): Promise<AdapterFile[]> {
  const changes: Change[] = [];
  for (const path of SECTIONS) {
    const file = await readProjectFile(project, path);
    const section = findMarkedSection(file.text ?? "");
    if (section.kind === "broken") throw brokenSection(file, section.line);
    if (file.text !== undefined && section.kind === "found" && ownerOf(section.content) === slug)
      changes.push({ file, text: takeSection(file.text, section) });
  }
  const script = await readProjectFile(project, PRECHECK);
  if (script.text?.includes(`${PRECHECK_MARK} for ${slug};`) === true) {
    const settings = await readProjectFile(project, CLAUDE_SETTINGS);
    const { text } = settings;
    const rest = text === newSettings(PRECHECK) ? undefined : removePromptHook(text ?? "", PRECHECK);
    if (text !== undefined && rest !== text) changes.push({ file: settings, text: rest });
    changes.push({ file: script, text: undefined }); // last: an entry without its script would break every prompt
  }
  const applied = await apply(changes);
  if (applied.some(({ path }) => path === PRECHECK))
    await removeEmptyFolders(project, [".claude/hooks", ".claude"]);
  return applied;
}

interface Change {
  readonly file: ProjectFile;
  /** Undefined: remove the file. */
  readonly text: string | undefined;
  readonly isExecutable?: boolean;
}

async function apply(changes: readonly Change[]): Promise<AdapterFile[]> {
  const applied: AdapterFile[] = [];
  for (const { file, text, isExecutable = false } of changes) {
    if (text !== file.text) await writeProjectFile(file, text, { isExecutable });
    applied.push({ path: file.path, action: actionOf(file.text, text) });
  }
  return applied;
}

function actionOf(before: string | undefined, after: string | undefined): AdapterFile["action"] {
  if (before === after) return "kept";
  if (after === undefined) return "removed";
  return before === undefined ? "written" : "changed";
}

function ownerLine(slug: string): string {
  return `<!-- cortex:member ${slug} (written by \`cortex team adapter\`, removed by \`cortex team leave\`) -->`;
}

function ownerOf(content: string): string | undefined {
  return /^<!-- cortex:member ([a-z0-9-]+) /m.exec(content)?.[1];
}

function withSection(file: ProjectFile, content: string, slug: string): string {
  const section = findMarkedSection(file.text ?? "");
  if (section.kind === "broken") throw brokenSection(file, section.line);
  const owner = section.kind === "found" ? ownerOf(section.content) : undefined;
  if (owner !== undefined && owner !== slug) {
    throw new CortexError("state_conflict", `${file.real} already contains instructions for ${owner}`, {
      hint: `A folder can hold one member's instructions: give ${slug} its own folder, such as a git worktree, or run \`cortex team leave ${owner}\`.`,
    });
  }
  return putSection(file.text, content);
}

/** A section of that name that is not ours stays: it gives the same instructions. */
async function claudeNote(project: string, slug: string): Promise<Change> {
  const file = await readProjectFile(project, CLAUDE_NOTE);
  const isOurs = findMarkedSection(file.text ?? "").kind !== "none";
  if (!isOurs && /^## Cortex[ \t]*\r?$/m.test(file.text ?? "")) return { file, text: file.text };
  const line =
    "At the start of a session, read .cortex.md and follow it: it says who you are in the team. @.cortex.md";
  return { file, text: withSection(file, `${ownerLine(slug)}\n## Cortex\n${line}`, slug) };
}

/** A script of that name that is not ours does the same, and its settings exist already. */
async function idleSuppression(project: string, script: string): Promise<Change[]> {
  const file = await readProjectFile(project, PRECHECK);
  const isForeign = file.text !== undefined && !file.text.includes(PRECHECK_MARK);
  if (isForeign) return [{ file, text: file.text }];
  return [{ file, text: script, isExecutable: true }, await promptHook(project)];
}

async function promptHook(project: string): Promise<Change> {
  const file = await readProjectFile(project, CLAUDE_SETTINGS);
  const text = file.text === undefined ? newSettings(PRECHECK) : addPromptHook(file.text, PRECHECK);
  if (text !== undefined) return { file, text };
  throw new CortexError("state_conflict", `Cannot add a hook to the settings in ${file.real}`, {
    hint: "The file must be JSON, and hooks.UserPromptSubmit must be a list if it is present.",
  });
}

/** A line break in a path would break the text and the script. */
function requirePrintable(folder: string): void {
  if (!/\p{Cc}/u.test(folder)) return;
  throw new CortexError("request_invalid", `The path ${JSON.stringify(folder)} contains control characters`, {
    hint: "Rename the folder.",
  });
}

function brokenSection({ real }: ProjectFile, line: number): CortexError {
  return new CortexError(
    "state_conflict",
    `${real}:${line}: mismatched cortex:begin and cortex:end comments`,
    {
      hint: "Remove everything from <!-- cortex:begin --> to <!-- cortex:end --> by hand, and try again.",
    },
  );
}
