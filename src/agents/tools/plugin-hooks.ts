/** Reads the tool hooks of a Claude Code plugin from `hooks/hooks.json`. */
import { readFile, realpath } from "node:fs/promises";
import { join, relative } from "node:path";

import { z } from "zod";

import { CortexError, errorText } from "../../model/errors.ts";
import { type FolderHash, hasContent, hasFile } from "../../model/folder-hash.ts";
import { present } from "../../model/present.ts";
import type { ToolHookCommand } from "./tool-hooks.ts";

const DEFAULT_TIMEOUT_S = 60;
const MAX_TIMEOUT_S = 600;
const MAX_FILE_LENGTH = 256 * 1024;
/** A plugin that changes is not loaded, and Python would write compiled modules beside its own. */
const WRITES_NOTHING = { PYTHONDONTWRITEBYTECODE: "1" };

const Group = z.object({
  matcher: z.string().max(512).optional(),
  hooks: z.array(
    z.looseObject({
      type: z.string(),
      command: z.string().min(1).optional(),
      timeout: z.number().positive().max(MAX_TIMEOUT_S).optional(),
    }),
  ),
});
const File = z.looseObject({
  hooks: z.looseObject({ PreToolUse: z.array(Group).optional(), PostToolUse: z.array(Group).optional() }),
});

const HOOKS_FILE = "hooks/hooks.json";

interface PinnedPlugin {
  readonly folder: string;
  /** What it consisted of when it was accepted. */
  readonly files: FolderHash["files"];
  readonly refusal?: ToolHookCommand["refusal"];
}

/**
 * Empty if the plugin has no such file. Throws `config_invalid` if it is invalid, and `plugin_unpinned` if it is not the
 * file that was accepted: it may have changed since the plugin was checked.
 */
export async function readPluginHooks({ folder, files, refusal }: PinnedPlugin): Promise<ToolHookCommand[]> {
  const path = join(folder, HOOKS_FILE);
  const read = await readIfThere(path, folder);
  if (read === undefined ? hasFile(files, HOOKS_FILE) : !hasContent(files, read.name, read.content))
    throw new CortexError("plugin_unpinned", `${path} changed after it was pinned`, {
      hint: "Restore it, or read the changes and accept them with `cortex plugins pin`.",
    });
  const text = read?.content.toString("utf8");
  if (text === undefined) return [];
  const { hooks } = parse(text, path);
  const of = (event: ToolHookCommand["event"], groups: readonly z.output<typeof Group>[] = []) =>
    groups.flatMap(({ matcher, hooks: commands }) =>
      commands.flatMap(({ type, command, timeout = DEFAULT_TIMEOUT_S }): ToolHookCommand[] =>
        type !== "command" || command === undefined
          ? []
          : [
              {
                name: path,
                event,
                isFor: matcherOf(matcher),
                command,
                folder,
                timeoutMs: timeout * 1_000,
                variables: { CLAUDE_PLUGIN_ROOT: folder, ...WRITES_NOTHING },
                isGuard: false,
                ...present({ refusal }),
              },
            ],
      ),
    );
  return [...of("before", hooks.PreToolUse), ...of("after", hooks.PostToolUse)];
}

interface ReadFile {
  /** Its path in the folder, without links. */
  readonly name: string;
  readonly content: Buffer;
}

async function readIfThere(path: string, folder: string): Promise<ReadFile | undefined> {
  try {
    const [real, root] = await Promise.all([realpath(path), realpath(folder)]);
    return { name: relative(root, real), content: await readFile(real) };
  } catch {
    return undefined; // most plugins have none
  }
}

function parse(text: string, path: string): z.output<typeof File> {
  try {
    if (text.length > MAX_FILE_LENGTH) throw new Error(`it is longer than ${MAX_FILE_LENGTH} characters`);
    return File.parse(JSON.parse(text));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : errorText(cause);
    throw new CortexError("config_invalid", `Invalid plugin hooks in ${path}: ${why}`, {
      hint: "Fix the file, or remove the plugin from pluginDirs.",
      cause,
    });
  }
}

/** `Edit|Write`; `*` or nothing for all tools; `mcp__.*` for all names with this prefix. */
function matcherOf(matcher: string | undefined): ToolHookCommand["isFor"] {
  if (matcher === undefined || matcher === "" || matcher === "*") return () => true;
  const names = matcher.split("|").map((name) => name.trim());
  return (tool) =>
    names.some((name) => (name.endsWith(".*") ? tool.startsWith(name.slice(0, -2)) : name === tool));
}
