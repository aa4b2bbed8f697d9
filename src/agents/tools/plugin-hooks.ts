/** Reads the tool hooks of a Claude Code plugin from `hooks/hooks.json`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { CortexError, errorText } from "../../model/errors.ts";
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
      env: z.array(z.string().regex(/^[A-Za-z_]\w*$/, "is not a valid variable name")).optional(),
    }),
  ),
});
const File = z.looseObject({
  hooks: z.looseObject({ PreToolUse: z.array(Group).optional(), PostToolUse: z.array(Group).optional() }),
});

/** Empty if the plugin has no such file. Throws `config_invalid` if it is invalid. */
export async function readPluginHooks(
  folder: string,
  refusal?: ToolHookCommand["refusal"],
): Promise<ToolHookCommand[]> {
  const path = join(folder, "hooks", "hooks.json");
  const text = await readIfThere(path);
  if (text === undefined) return [];
  const { hooks } = parse(text, path);
  const of = (event: ToolHookCommand["event"], groups: readonly z.output<typeof Group>[] = []) =>
    groups.flatMap(({ matcher, hooks: commands }) =>
      commands.flatMap(({ type, command, timeout = DEFAULT_TIMEOUT_S, env = [] }): ToolHookCommand[] =>
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
                env,
                isGuard: false,
                ...present({ refusal }),
              },
            ],
      ),
    );
  return [...of("before", hooks.PreToolUse), ...of("after", hooks.PostToolUse)];
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
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
