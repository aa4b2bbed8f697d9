/**
 * Which content of a plugin the owner has accepted: `config/plugins.lock`, one entry for each plugin folder.
 *
 * A plugin is programs and instructions, so it is used only as it was when it was pinned. The owner names plugins in the
 * configuration; one that has no pin yet is pinned when it is first used, unless agents may write where it is.
 */
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

import { z } from "zod";

import type { Config } from "../config/config.ts";
import { configFolder } from "../config/read.ts";
import { rewriteFile } from "../config/rewrite-file.ts";
import { errorText, CortexError } from "../model/errors.ts";
import {
  compareFolders,
  type FolderChanges,
  type FolderHash,
  FolderHashes,
  hashOfFiles,
  sha256OfFolder,
} from "../model/folder-hash.ts";
import { type FileRead, readInside } from "./read-inside.ts";

const LOCK_FILE = "plugins.lock";
/** In characters: some hundred plugins. */
export const MAX_LOCK_LENGTH = 16 * 1024 * 1024;

const Pin = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  pinnedAt: z.string(),
  /** Who decided: Cortex when it first used the plugin, or the owner with `cortex plugins pin`. */
  by: z.enum(["first use", "owner"]),
  files: z.array(z.string()),
});
const Lock = z.strictObject({ version: z.literal(1), plugins: z.record(z.string(), Pin) });

export type Pin = z.output<typeof Pin>;

/** A folder in which agents work, and the setting that makes it one. */
export type AgentFolder = readonly [setting: string, path: string];

/** What decides whether a plugin may be used. */
export interface PluginTrust {
  readonly home: string;
  readonly config: Pick<Config, "agents" | "personas" | "channels">;
  /** Folders in which agents work beside their workspaces and roots, such as the projects of a team. */
  readonly agentFolders?: (() => Promise<readonly AgentFolder[]>) | undefined;
  /** Gets a line for each plugin that is pinned. Absent: none is pinned. */
  readonly log?: (line: string) => void;
}

export type PinState =
  | { readonly kind: "pinned"; readonly hash: FolderHash; readonly pin: Pin }
  /** To be pinned when it is first used. */
  | { readonly kind: "new"; readonly hash: FolderHash }
  /** An agent may write there, so its first content is the owner's to accept. */
  | { readonly kind: "exposed"; readonly hash: FolderHash; readonly to: string }
  | {
      readonly kind: "changed";
      readonly hash: FolderHash;
      readonly pin: Pin;
      readonly changes: FolderChanges;
    };

/** A path in the lock file and for people: relative to the home where it is inside. */
export function pluginName(folder: string, home: string): string {
  const path = relative(home, folder);
  return path === "" || path.startsWith("..") || isAbsolute(path) ? folder : path;
}

export function pluginFolder(name: string, home: string): string {
  return resolve(home, name);
}

const hashes = new FolderHashes();

/**
 * Throws `file_unsafe` where the folder has no hash, `config_invalid` where the lock file is no such file. With `readsAll`,
 * every file is read, even if its status is the same as before.
 */
export async function statePin(
  folder: string,
  trust: PluginTrust,
  { readsAll = false } = {},
): Promise<PinState> {
  const { home } = trust;
  const name = lockableName(folder, home);
  const [pins, hash] = await Promise.all([
    readPins(home),
    readsAll ? sha256OfFolder(folder) : hashes.of(folder),
  ]);
  const pin = pins.get(name);
  if (pin === undefined) {
    const to = await exposedTo(folder, trust);
    return to === undefined ? { kind: "new", hash } : { kind: "exposed", hash, to };
  }
  if (pin.sha256 === hash.sha256) return { kind: "pinned", hash, pin };
  return { kind: "changed", hash, pin, changes: compareFolders(pin.files, hash.files) };
}

/** Accepts this content of a plugin, which replaces what was accepted before. */
export async function pinPlugin(
  folder: string,
  hash: FolderHash,
  { home, by, nowMs }: { readonly home: string; readonly by: Pin["by"]; readonly nowMs: number },
): Promise<void> {
  const name = lockableName(folder, home);
  const pin = { sha256: hash.sha256, pinnedAt: new Date(nowMs).toISOString(), by, files: [...hash.files] };
  await rewriteFile(join(configFolder(home), LOCK_FILE), async () => {
    const pins = [...(await readPins(home)), [name, pin] as const];
    const sorted = [...new Map(pins)].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const text = `${JSON.stringify({ version: 1, plugins: Object.fromEntries(sorted) }, null, 2)}\n`;
    if (text.length > MAX_LOCK_LENGTH)
      throw lockInvalid(home, `it would have more than ${MAX_LOCK_LENGTH} characters`);
    return { text, result: undefined };
  });
}

/** Names that objects have already, which are lost when JSON is read or checked. */
const RESERVED_NAMES = new Set(["__proto__", "constructor", "prototype"]);

function lockableName(folder: string, home: string): string {
  const name = pluginName(folder, home);
  if (!RESERVED_NAMES.has(name)) return name;
  throw new CortexError("file_unsafe", `Refusing to use the plugin ${name}: its name is reserved`, {
    hint: "Rename the folder.",
  });
}

/** By name. Throws `config_invalid`. */
export async function readPins(home: string): Promise<ReadonlyMap<string, Pin>> {
  const read = await readInside(LOCK_FILE, configFolder(home), MAX_LOCK_LENGTH);
  switch (read.kind) {
    case "absent":
      return new Map();
    case "refused":
      throw lockInvalid(home, `it ${read.reason}`);
    case "read": {
      const pins = parsed.get(read) ?? parsePins(read, home);
      parsed.set(read, pins);
      return pins;
    }
  }
}

/** Of files that have not changed. */
const parsed = new WeakMap<FileRead, ReadonlyMap<string, Pin>>();

function parsePins({ text, isCut }: Extract<FileRead, { kind: "read" }>, home: string): Map<string, Pin> {
  if (isCut) throw lockInvalid(home, `it has more than ${MAX_LOCK_LENGTH} characters`);
  try {
    const { plugins } = Lock.parse(JSON.parse(text));
    const pins = new Map(Object.entries(plugins));
    for (const [name, { files, sha256 }] of pins)
      if (hashOfFiles(files) !== sha256) throw new Error(`the files of ${name} do not have its hash`);
    return pins;
  } catch (cause) {
    throw lockInvalid(home, cause instanceof z.ZodError ? z.prettifyError(cause) : errorText(cause), cause);
  }
}

function lockInvalid(home: string, why: string, cause?: unknown): CortexError {
  const path = join(configFolder(home), LOCK_FILE);
  return new CortexError("config_invalid", `Invalid ${path}: ${why}`, {
    hint: "Restore it, or remove it: plugins are then pinned as they are now. Until then, none is loaded.",
    cause,
  });
}

/** The setting of a folder in which an agent, or who sends files to one, may write into the plugin. */
async function exposedTo(
  folder: string,
  { home, config: { agents, personas, channels }, agentFolders }: PluginTrust,
): Promise<string | undefined> {
  const places: readonly AgentFolder[] = [
    ...Object.entries(agents).map(([id, { workspace }]) => [`agents.${id}.workspace`, workspace] as const),
    ...Object.entries(personas).flatMap(([id, { permissions }]) =>
      permissions.roots.map((root) => [`personas.${id}.permissions.roots`, root] as const),
    ),
    ...channels.paired.flatMap(({ permissions }) =>
      (permissions?.roots ?? []).map((root) => ["channels.paired", root] as const),
    ),
    ...Object.entries(channels.files).map(
      ([id, watched]) => [`channels.files.${id}.folder`, watched.folder] as const,
    ),
    ...((await agentFolders?.()) ?? []),
    ...WRITTEN.map((name) => [`the home's ${name}`, join(home, name)] as const),
  ];
  const plugin = await realpath(folder);
  for (const [setting, path] of places) {
    const place = await realpath(path).catch(() => path); // a workspace may not exist yet
    if (isWithin(plugin, place) || isWithin(place, plugin)) return `${setting} (${path})`;
  }
  return undefined;
}

/** Folders of the home with files of agents and of others. */
const WRITTEN = ["data", "tmp", "workspaces"];

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
