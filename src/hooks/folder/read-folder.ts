/** The files of the folder of hooks, as they are now. */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { HOOK_NAME } from "../hook-name.ts";
import { kindOf, parseHeader } from "./parse-header.ts";
import type { HookFile } from "../../store/store.ts";

export const MAX_HOOK_FILES = 5_000;
export const MAX_HOOK_FILE_BYTES = 1024 * 1024;

export interface FoundHook {
  readonly path: string;
  /** As far as the text tells. */
  readonly file: HookFile;
  /** Whether it can be loaded, as far as the text tells. */
  readonly isLoadable: boolean;
}

export interface FoundFolder {
  readonly hooks: readonly FoundHook[];
  /** Of every script in it: hooks import from one another. */
  readonly digest: string;
}

type Content =
  | { readonly text: string; readonly error?: undefined }
  | { readonly text?: undefined; readonly error: string };

const TOO_MANY = `It is not read, because a folder has at most ${MAX_HOOK_FILES} scripts`;
const SCRIPT = /^(?<name>.+)\.(?:m?ts|m?js)$/;
const NONE = /\.(?:d\.m?ts|(?:test|spec)\.m?[jt]s)$/;

/** A folder that is not there holds nothing. */
export async function readFolder(folder: string): Promise<FoundFolder> {
  const names = (await namesIn(folder)).filter((name) => SCRIPT.test(name) && !NONE.test(name));
  const whole = createHash("sha256");
  const hooks = new Map<string, FoundHook>();
  // The first that is too many is told of, and stands for the others.
  for (const [at, fileName] of names.slice(0, MAX_HOOK_FILES + 1).entries()) {
    const path = join(folder, fileName);
    const content = at < MAX_HOOK_FILES ? await read(path) : { error: TOO_MANY };
    if (content === undefined) continue; // gone again, or no file
    const digest = createHash("sha256")
      .update(content.error ?? content.text)
      .digest("hex");
    whole.update(`${fileName}\0${digest}\0`);
    const hook = describe(fileName, path, content, digest);
    if (hook === undefined) continue;
    const other = hooks.get(hook.file.name);
    hooks.set(
      hook.file.name,
      other === undefined ? hook : refuse(hook, `${fileName} is one of two files of this name`),
    );
  }
  return { hooks: [...hooks.values()], digest: whole.digest("hex") };
}

function describe(fileName: string, path: string, content: Content, digest: string): FoundHook | undefined {
  const name = SCRIPT.exec(fileName)!.groups!["name"]!;
  const file: HookFile = { name: name.slice(0, 64), mode: "persistent", digest };
  if (content.error !== undefined)
    return { path, file: { ...file, error: content.error }, isLoadable: false };
  const kind = kindOf(content.text);
  if (kind === "other") return undefined;
  const { error, ...header } = parseHeader(content.text);
  const found: FoundHook = { path, file: { ...file, ...header }, isLoadable: true };
  if (!HOOK_NAME.test(name))
    return refuse(found, `${fileName} is no name for a hook: 1 to 64 lower-case letters, digits, - and _`);
  if (error !== undefined) return refuse(found, error);
  return kind === "hook"
    ? found
    : refuse(found, "It has no default export: write `export default async function (ctx) { … }`");
}

function refuse({ path, file }: FoundHook, error: string): FoundHook {
  return { path, file: { ...file, error }, isLoadable: false };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

/** What is wrong with a file is told of it, and keeps no other from being read. */
async function read(path: string): Promise<Content | undefined> {
  try {
    const about = await stat(path);
    if (!about.isFile()) return undefined;
    if (about.size > MAX_HOOK_FILE_BYTES) return { error: `It has more than ${MAX_HOOK_FILE_BYTES} bytes` };
    return { text: await readFile(path, "utf8") };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? undefined : { error: `It cannot be read: ${message}` };
  }
}
