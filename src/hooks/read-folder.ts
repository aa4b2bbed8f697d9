/** The files of the folder of hooks, as they are now. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { HOOK_NAME } from "./hook-name.ts";
import { kindOf, parseHeader } from "./parse-header.ts";
import type { HookFile } from "../store/store.ts";

const MAX_HOOK_FILES = 5_000;
const MAX_HOOK_FILE_BYTES = 1024 * 1024;

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

const SCRIPT = /^(?<name>.+)\.(?:m?ts|m?js)$/;
const NONE = /\.(?:d\.m?ts|(?:test|spec)\.m?[jt]s)$/;

/** A folder that is not there holds nothing. */
export async function readFolder(folder: string): Promise<FoundFolder> {
  const names = (await namesIn(folder))
    .filter((name) => SCRIPT.test(name) && !NONE.test(name))
    .slice(0, MAX_HOOK_FILES);
  const whole = createHash("sha256");
  const hooks = new Map<string, FoundHook>();
  for (const fileName of names) {
    const path = join(folder, fileName);
    const text = await readText(path);
    if (text === undefined) continue; // gone again, or no file
    const digest = createHash("sha256").update(text).digest("hex");
    whole.update(`${fileName}\0${digest}\0`);
    const hook = describe(fileName, path, text, digest);
    if (hook === undefined) continue;
    const other = hooks.get(hook.file.name);
    hooks.set(
      hook.file.name,
      other === undefined ? hook : refuse(hook, `${fileName} is one of two files of this name`),
    );
  }
  return { hooks: [...hooks.values()], digest: whole.digest("hex") };
}

function describe(fileName: string, path: string, text: string, digest: string): FoundHook | undefined {
  const kind = kindOf(text);
  if (kind === "other") return undefined;
  const { error, ...header } = parseHeader(text);
  const name = SCRIPT.exec(fileName)!.groups!["name"]!;
  const found: FoundHook = {
    path,
    file: { name: name.slice(0, 64), mode: "persistent", digest, ...header },
    isLoadable: true,
  };
  if (!HOOK_NAME.test(name))
    return refuse(found, `${fileName} is no name for a hook: 1 to 64 lower-case letters, digits, - and _`);
  if (error !== undefined) return refuse(found, error);
  if (text.length > MAX_HOOK_FILE_BYTES)
    return refuse(found, `It has more than ${MAX_HOOK_FILE_BYTES} bytes`);
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

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
