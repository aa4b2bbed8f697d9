/** Values that occur nowhere else, and ways to find them again however they were spelled. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

export function canary(name: string): string {
  return `CANARY-${name}-${randomBytes(12).toString("hex")}`;
}

/** The canaries that a text holds, plainly or in a spelling that an attacker would read. */
export function canariesIn(text: string, canaries: Readonly<Record<string, string>>): string[] {
  return Object.entries(canaries)
    .filter(([, value]) => spellingsOf(value).some((spelling) => text.includes(spelling)))
    .map(([name]) => name);
}

const spelled = new Map<string, readonly string[]>();

/** Made once: each is looked for in everything that a scene has seen. */
function spellingsOf(value: string): readonly string[] {
  const spellings = spelled.get(value) ?? spell(value);
  spelled.set(value, spellings);
  return spellings;
}

function spell(value: string): string[] {
  const bytes = Buffer.from(value);
  const inBase64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64url")
      .slice(4, -4),
  );
  return [value, Array.from(value).toReversed().join(""), bytes.toString("hex"), ...inBase64];
}

/**
 * Every file below a folder that is wanted, with its content, by its path from there. What is not wanted is not read. Links
 * are not followed.
 */
export function filesBelow(
  folder: string,
  isWanted: (path: string) => boolean = () => true,
  from = "",
): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of readdirSync(join(folder, from), { withFileTypes: true })) {
    const path = join(from, entry.name);
    if (entry.isDirectory())
      for (const [name, bytes] of filesBelow(folder, isWanted, path)) files.set(name, bytes);
    else if (!isWanted(path)) continue;
    else if (entry.isFile()) files.set(path, readWhole(join(folder, path)));
    else if (entry.isSymbolicLink()) files.set(path, Buffer.from(readlinkSync(join(folder, path))));
  }
  return files;
}

/**
 * Files of a database that this process has open are read by another one: whoever closes such a file gives up all locks that
 * its process has on it, and SQLite would be changed by others under our feet.
 */
function readWhole(path: string): Buffer {
  if (!/\.db([-.]\w+)?$/.test(path)) return readFileSync(path);
  return execFileSync("cat", ["--", path], { maxBuffer: MAX_DATABASE_BYTES });
}

const MAX_DATABASE_BYTES = 256 * 1024 * 1024;
