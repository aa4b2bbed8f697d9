/** Reads the hooks folder. */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { HOOK_NAME } from "../hook-name.ts";
import { scriptKindOf, NO_DEFAULT_EXPORT, parseHeader } from "./parse-header.ts";
import { errorText, systemErrorCode } from "../../model/errors.ts";
import type { HookFile } from "../../store/store.ts";

export const MAX_HOOK_FILES = 5_000;
export const MAX_HOOK_FILE_BYTES = 1024 * 1024;

/** A file that is a hook, or looks like one. */
export interface HookScript {
  readonly path: string;
  /** As far as its text shows. */
  readonly file: HookFile;
  /** Whether it can be loaded, as far as its text shows. */
  readonly isLoadable: boolean;
}

interface HooksFolder {
  readonly scripts: readonly HookScript[];
  /** Covers every script in it: hooks import from one another. */
  readonly digest: string;
}

type Content =
  | { readonly text: string; readonly error?: undefined }
  | { readonly text?: undefined; readonly error: string };

const TOO_MANY = `Not read: the folder has more than ${MAX_HOOK_FILES} scripts`;
const SCRIPT = /\.(?:m?ts|m?js)$/;
const NOT_A_HOOK = /\.(?:d\.m?ts|(?:test|spec)\.m?[jt]s)$/;

/** A missing folder holds no scripts. */
export async function readFolder(folder: string): Promise<HooksFolder> {
  const names = (await namesIn(folder)).filter((name) => SCRIPT.test(name) && !NOT_A_HOOK.test(name));
  const whole = createHash("sha256");
  const scripts = new Map<string, HookScript>();
  // The first one over the limit is reported, and stands for the rest.
  for (const [at, fileName] of names.slice(0, MAX_HOOK_FILES + 1).entries()) {
    const path = join(folder, fileName);
    const content = at < MAX_HOOK_FILES ? await read(path) : { error: TOO_MANY };
    if (content === undefined) continue; // gone already, or not a file
    const digest = createHash("sha256")
      .update(content.error ?? content.text)
      .digest("hex");
    whole.update(`${fileName}\0${digest}\0`);
    const script = describe(fileName, path, content, digest);
    if (script === undefined) continue;
    const { name } = script.file;
    scripts.set(name, scripts.has(name) ? refuse(script, `Two files have this name: ${fileName}`) : script);
  }
  return { scripts: [...scripts.values()], digest: whole.digest("hex") };
}

function describe(fileName: string, path: string, content: Content, digest: string): HookScript | undefined {
  const name = fileName.replace(SCRIPT, "");
  const file: HookFile = { name: name.slice(0, 64), mode: "persistent", digest };
  if (content.error !== undefined)
    return { path, file: { ...file, error: content.error }, isLoadable: false };
  const kind = scriptKindOf(content.text);
  if (kind === "other") return undefined;
  const { error, ...header } = parseHeader(content.text);
  const script: HookScript = { path, file: { ...file, ...header }, isLoadable: true };
  if (!HOOK_NAME.test(name))
    return refuse(script, `Invalid hook name ${fileName}: use 1 to 64 lower-case letters, digits, - and _`);
  if (error !== undefined) return refuse(script, error);
  return kind === "hook" ? script : refuse(script, NO_DEFAULT_EXPORT);
}

function refuse({ path, file }: HookScript, error: string): HookScript {
  return { path, file: { ...file, error }, isLoadable: false };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) return [];
    throw error;
  }
}

/** A problem with one file is recorded for that file, and does not keep others from being read. */
async function read(path: string): Promise<Content | undefined> {
  try {
    const about = await stat(path);
    if (!about.isFile()) return undefined;
    if (about.size > MAX_HOOK_FILE_BYTES) return { error: `Larger than ${MAX_HOOK_FILE_BYTES} bytes` };
    return { text: await readFile(path, "utf8") };
  } catch (error) {
    return systemErrorCode(error) === "ENOENT" ? undefined : { error: `Cannot be read: ${errorText(error)}` };
  }
}
