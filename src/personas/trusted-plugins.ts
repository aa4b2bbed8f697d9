/** The plugins of an agent that may be used: those that are as they were when they were pinned. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";

import { CortexError } from "../model/errors.ts";
import { type FolderChanges, type FolderHash, hasFile } from "../model/folder-hash.ts";
import { pinPlugin, type PinState, pluginName, type PluginTrust, readPins, statePin } from "./plugin-pins.ts";
import {
  findPlugins,
  type FolderProblem,
  HOOKS_FILE,
  MAX_PLUGINS,
  type Plugin,
  PLUGIN_FILE,
} from "./plugins.ts";

/** How many files are named of each kind of change. */
export const MAX_NAMED_FILES = 5;

interface TrustedPlugin extends Plugin {
  /** What it consisted of when it was judged. */
  readonly files: FolderHash["files"];
}

interface TrustedPlugins {
  readonly plugins: readonly TrustedPlugin[];
  readonly problems: readonly FolderProblem[];
  /** Of these, those with tool hooks, now or when they were pinned: calls that they might deny are not made. */
  readonly lostGuards: readonly CortexError[];
}

/** Pins new plugins if the trust has a log. No content of a folder makes this throw. */
export async function trustedPlugins(
  pluginDirs: readonly string[],
  trust: PluginTrust,
): Promise<TrustedPlugins> {
  const listed = [...new Set(pluginDirs)];
  const named = listed.slice(0, MAX_PLUGINS);
  const judged: Verdict[] = [];
  // One after the other: several new ones are pinned in the same file.
  for (const folder of named) judged.push(await judge(folder, trust));
  const refused = judged.flatMap((verdict) => (verdict.refusal === undefined ? [] : [verdict]));
  const isRefused = new Set(refused.map(({ folder }) => folder));
  const files = new Map(judged.map((verdict) => [verdict.folder, verdict.files ?? []]));
  const { plugins, problems } = await findPlugins(named.filter((folder) => !isRefused.has(folder)));
  return {
    plugins: plugins.map((plugin) => Object.assign(plugin, { files: files.get(plugin.folder)! })),
    problems: [
      ...listed.slice(MAX_PLUGINS, MAX_PLUGINS + 1).map((path) => {
        const problem = `more than ${MAX_PLUGINS} plugins; the rest is ignored`;
        return { path, problem, isLeftOut: true };
      }),
      ...problems,
      ...refused.map(({ folder, refusal }) => ({
        path: folder,
        problem: refusal!.message,
        hint: refusal!.hint,
        isLeftOut: true,
      })),
    ],
    lostGuards: refused.flatMap(({ refusal, mayGuard }) => (mayGuard ? [refusal!] : [])),
  };
}

/**
 * Why a plugin that was loaded may not be used any more. Called right before one of its programs runs, so every file is
 * read: milliseconds for most plugins.
 */
export async function whyNotTrusted(folder: string, trust: PluginTrust): Promise<CortexError | undefined> {
  return (await judge(folder, trust, { readsAll: true })).refusal;
}

interface Verdict {
  readonly folder: string;
  /** Undefined: it may be used. */
  readonly refusal?: CortexError;
  readonly mayGuard: boolean;
  readonly files?: FolderHash["files"];
}

async function judge(
  folder: string,
  trust: PluginTrust,
  options: { readonly readsAll?: boolean } = {},
): Promise<Verdict> {
  try {
    if (!(await isFolder(folder))) return await judgeMissing(folder, trust);
    const state = await statePin(folder, trust, options);
    const listings = "pin" in state ? [state.hash.files, state.pin.files] : [state.hash.files];
    const mayGuard = listings.some(canHaveHooks);
    if (state.kind === "new" && trust.log !== undefined) await pinFirst(folder, state, trust, trust.log);
    if (state.kind === "pinned" || state.kind === "new") return { folder, mayGuard, files: state.hash.files };
    return { folder, mayGuard, refusal: unpinned(pluginName(folder, trust.home), state) };
  } catch (error) {
    if (error instanceof CortexError) return { folder, mayGuard: true, refusal: error }; // it may be a guard
    throw error;
  }
}

/** Nothing to load, which is reported as such, unless it guarded calls. */
async function judgeMissing(folder: string, { home }: PluginTrust): Promise<Verdict> {
  const name = pluginName(folder, home);
  const pin = (await readPins(home)).get(name);
  if (pin === undefined || !canHaveHooks(pin.files)) return { folder, mayGuard: false };
  const refusal = new CortexError(
    "plugin_unpinned",
    `The plugin ${name} is pinned, and its folder is missing`,
    {
      hint: "Restore it, or remove it from pluginDirs.",
    },
  );
  return { folder, mayGuard: true, refusal };
}

/** A link to the folder of its manifest or its hooks counts: a listing does not say what is there. */
export function canHaveHooks(files: FolderHash["files"]): boolean {
  return [PLUGIN_FILE, HOOKS_FILE].every((file) => hasFile(files, file) || hasFile(files, dirname(file)));
}

async function pinFirst(
  folder: string,
  { hash }: Extract<PinState, { kind: "new" }>,
  { home }: PluginTrust,
  log: (line: string) => void,
): Promise<void> {
  await pinPlugin(folder, hash, { home, by: "first use", nowMs: Date.now() });
  log(`Pinned the plugin ${pluginName(folder, home)} as it is now: sha256 ${hash.sha256}.`);
}

function unpinned(name: string, state: Extract<PinState, { kind: "exposed" | "changed" }>): CortexError {
  const command = `\`cortex plugins pin ${quoted(name)}\``;
  if (state.kind === "exposed")
    return new CortexError(
      "plugin_unpinned",
      `The plugin ${name} is not pinned, and agents can write to it: ${state.to}`,
      { hint: `Move it elsewhere, or read it and run ${command}.` },
    );
  return new CortexError(
    "plugin_unpinned",
    `The plugin ${name} changed after it was pinned: ${describeChanges(state.changes)}`,
    { hint: `Restore it, or read the changes and run ${command}.` },
  );
}

/** `added bin/run.sh; changed hooks/hooks.json, a, b, c, d and 3 more`. */
export function describeChanges(changes: FolderChanges): string {
  return (["added", "changed", "removed"] as const)
    .filter((kind) => changes[kind].length > 0)
    .map((kind) => {
      const [paths, left] = [changes[kind].slice(0, MAX_NAMED_FILES), changes[kind].length - MAX_NAMED_FILES];
      return `${kind} ${paths.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
    })
    .join("; ");
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./@-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false; // reported where it is read
  }
}
