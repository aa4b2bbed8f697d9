/**
 * Adds an agent or a persona to `cortex.json`, for whoever does not want to open an editor.
 *
 * The new text is written to a file beside it that only one process can make, and takes the place of the old one
 * in one step, so that a reader never sees a part of it and a second writer begins with what the first has left.
 */
import { type FileHandle, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CortexError } from "../model/errors.ts";
import { insertEntry } from "./insert-entry.ts";
import { MAX_FILE_BYTES } from "./json-file.ts";
import { type ConfigSources, configFolder, type LoadedConfig, loadConfig, readTexts } from "./read.ts";

export interface NewEntry {
  readonly section: "agents" | "personas";
  readonly name: string;
  readonly value: object;
}

/** How often a writer looks whether another one is done, and after how long each time. */
const MAX_TRIES = 200;
const PAUSE_MS = 25;

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

/**
 * Gives the configuration as it is with the entry. Throws `config_invalid`, where it would not be valid or is not
 * now, `state_conflict`, where the name is taken or another writer does not end, and `home_unwritable`; nothing
 * is written then.
 */
export async function addEntry(
  sources: ConfigSources,
  entry: NewEntry,
  times: { pauseMs?: number } = {},
): Promise<LoadedConfig> {
  const path = await targetPath(sources.home);
  const draft = `${path}.new`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const handle = await openDraft(draft, path);
    if (handle !== undefined) {
      const added = await writeEntry(sources, entry, { path, draft, handle });
      if (added !== undefined) return added;
    }
    await pause(times.pauseMs ?? PAUSE_MS);
  }
  throw stillEdited(path, draft);
}

/** Undefined: somebody has changed the file meanwhile, and what they wrote is to be read first. */
async function writeEntry(
  sources: ConfigSources,
  entry: NewEntry,
  { path, draft, handle }: { path: string; draft: string; handle: FileHandle },
): Promise<LoadedConfig | undefined> {
  let isFile = false;
  try {
    const before = await bytesOf(path);
    const { text, loaded } = await compose(sources, entry);
    const hasMark = before?.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) === true;
    await handle.writeFile(hasMark ? `\uFEFF${text}` : text);
    await handle.sync();
    const now = await bytesOf(path);
    const isSame = before === undefined ? now === undefined : now?.equals(before) === true;
    if (!isSame) return undefined;
    await rename(draft, path);
    isFile = true;
    return loaded;
  } catch (error) {
    throw error instanceof CortexError ? error : unwritable(path, error);
  } finally {
    await handle.close();
    if (!isFile) await rm(draft, { force: true }); // else it may be the draft of the next writer by now
  }
}

async function compose(
  sources: ConfigSources,
  { section, name, value }: NewEntry,
): Promise<{ text: string; loaded: LoadedConfig }> {
  const texts = await readTexts(sources.home);
  const { config } = loadConfig(sources, texts);
  if (Object.hasOwn(config[section], name)) throw taken(section, name);
  const old = texts.cortex !== undefined && "text" in texts.cortex ? texts.cortex.text : "";
  const text = insertEntry(old, { section, name, value });
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw tooLarge(section, name);
  try {
    return { text, loaded: loadConfig(sources, { ...texts, cortex: { text } }) };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    throw new CortexError(error.code, `${section}.${name} was not added. With it: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}

/** The file itself, where a link leads to it: a link that somebody made is to stay one. */
async function targetPath(home: string): Promise<string> {
  const folder = configFolder(home);
  const path = join(folder, "cortex.json");
  try {
    await mkdir(folder, { recursive: true });
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return path;
    throw unwritable(path, error);
  }
}

/** Undefined: another writer has it. */
async function openDraft(draft: string, path: string): Promise<FileHandle | undefined> {
  try {
    return await open(draft, "wx", await modeOf(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw unwritable(path, error);
  }
}

async function modeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0o644;
    throw error;
  }
}

async function bytesOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function taken(section: NewEntry["section"], name: string): CortexError {
  const what = section === "agents" ? "an agent" : "a persona";
  return new CortexError("state_conflict", `There is already ${what} called "${name}"`, {
    hint: `Take another name, or change ${section}.${name} in cortex.json.`,
  });
}

function tooLarge(section: NewEntry["section"], name: string): CortexError {
  return new CortexError(
    "config_invalid",
    `With ${section}.${name}, cortex.json would have more than ${MAX_FILE_BYTES} bytes`,
    { hint: "Move long texts to files of their own, such as SOUL.md of the workspace." },
  );
}

function stillEdited(path: string, draft: string): CortexError {
  return new CortexError("state_conflict", `Another process is changing ${path}`, {
    hint: `Try again. If none is, one was killed while it did: remove ${draft}.`,
  });
}

function unwritable(path: string, cause: unknown): CortexError {
  return new CortexError("home_unwritable", `${path} cannot be written`, {
    hint: "Check its permissions and those of its folder, and the space on the disk.",
    cause,
  });
}
