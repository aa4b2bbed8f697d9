/**
 * The token: 256 random bits in a file that only its owner can read. It is looked up for every request, so
 * a file that was replaced counts at once, and one that was removed is made anew.
 */
import { randomBytes } from "node:crypto";
import { closeSync, fchmodSync, fstatSync, readFileSync } from "node:fs";
import { lstat, mkdir, rename } from "node:fs/promises";
import { dirname } from "node:path";

import { hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { openPrivate, writePrivate } from "../model/private-file.ts";

const TOKEN_BYTES = 32;
/** A token that somebody chose has at least this many characters, all of them visible ASCII. */
export const MIN_TOKEN_LENGTH = 32;
const TOKEN = new RegExp(`^[!-~]{${MIN_TOKEN_LENGTH},512}$`);
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

export interface Token {
  readonly read: () => Promise<string>;
  /** Whether nobody else on this machine can read it. */
  isProtected(): boolean;
}

interface Loaded {
  readonly value: string;
  readonly isProtected: boolean;
  readonly stamp: string;
}

export async function openToken(path: string, log: (line: string) => void): Promise<Token> {
  let loaded = await load(path, log);
  return {
    async read() {
      const stamp = await stampOf(path);
      if (stamp !== loaded.stamp) loaded = await load(path, log);
      return loaded.value;
    },
    isProtected: () => loaded.isProtected,
  };
}

async function load(path: string, log: (line: string) => void): Promise<Loaded> {
  if ((await stampOf(path)) === undefined) await make(path);
  const file = openPrivate(path);
  try {
    const isProtected = protect(file, path, log);
    const value = readFileSync(file, "utf8").trim();
    if (!TOKEN.test(value)) throw tokenUnsafe(path);
    return { value, isProtected, stamp: (await stampOf(path)) ?? "" };
  } finally {
    closeSync(file);
  }
}

/** A file that others could read is closed to them; the token may be known to them already, so it is said. */
function protect(file: number, path: string, log: (line: string) => void): boolean {
  const { mode } = fstatSync(file);
  if ((mode & OTHERS) === 0) return true;
  try {
    fchmodSync(file, OWNER_ONLY);
  } catch (error) {
    log(`Others can read ${path}, and that cannot be changed: ${String(error)}`);
    return false;
  }
  const isProtected = (fstatSync(file).mode & OTHERS) === 0;
  log(
    isProtected
      ? `Others could read ${path}; now only its owner can. Delete it for a new token.`
      : `Others can read ${path}: this disk keeps no permissions.`,
  );
  return isProtected;
}

/** Written beside and moved into place, so that nobody ever reads half a token. */
async function make(path: string): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    writePrivate(draft, `${randomBytes(TOKEN_BYTES).toString("hex")}\n`);
    await rename(draft, path);
  } catch (cause) {
    throw new CortexError("home_unwritable", `The token ${path} cannot be written`, {
      hint: "Check the permissions of the folder, and whether there is room on the disk.",
      cause,
    });
  }
}

/** Changes whenever the file does: its content, its permissions, or which file it is. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    return `${ino}/${size}/${mtimeNs}/${ctimeNs}`;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function tokenUnsafe(path: string): CortexError {
  return new CortexError("token_unsafe", `The file ${path} holds no token that is safe`, {
    hint: `Delete it, and a new one is made. One of your own needs ${MIN_TOKEN_LENGTH} characters or more.`,
  });
}
