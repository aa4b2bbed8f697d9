/**
 * The token: 256 random bits in a file that only its owner can read. It is looked up for every request, so a replaced
 * file counts at once, and a removed one is created again.
 */
import { closeSync, fchmodSync, fstatSync, readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";

import { writeMainToken } from "../config/main-token.ts";
import { hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { openPrivate } from "../model/private-file.ts";
import { mintMainToken } from "../model/token.ts";

/** The minimum length of a custom token, in visible ASCII characters. */
export const MIN_TOKEN_LENGTH = 32;
const TOKEN = new RegExp(`^[!-~]{${MIN_TOKEN_LENGTH},512}$`);
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

export interface Token {
  readonly read: () => Promise<string>;
  /** Whether only its owner can read it. */
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
  if ((await stampOf(path)) === undefined) writeMainToken(path, mintMainToken());
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

/** Removes the permissions of others. They may know the token already, so this is logged. */
function protect(file: number, path: string, log: (line: string) => void): boolean {
  const { mode } = fstatSync(file);
  if ((mode & OTHERS) === 0) return true;
  try {
    fchmodSync(file, OWNER_ONLY);
  } catch (error) {
    log(`Other users can read ${path}, and its permissions cannot be changed: ${String(error)}`);
    return false;
  }
  const isProtected = (fstatSync(file).mode & OTHERS) === 0;
  log(
    isProtected
      ? `Other users could read ${path}; it is now readable only by its owner. Delete it to get a new token.`
      : `Other users can read ${path}: this file system does not support permissions.`,
  );
  return isProtected;
}

/** Changes with the content, the permissions and the identity of the file. */
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
  return new CortexError("token_unsafe", `Invalid or unsafe token in ${path}`, {
    hint: `Delete the file to get a new token. A token of your own needs at least ${MIN_TOKEN_LENGTH} characters.`,
  });
}
