/**
 * Which Cortex lets a team work. Two that do would both go on with what the other has begun; so the second one waits until
 * the first is gone. Files cross machines late or not at all, so this holds for those that share a disk.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { unwritable } from "../files/file-failure.ts";
import { lockFile } from "../files/file-lock.ts";
import { KEPT_FOLDER } from "../files/confine.ts";
import { openKeptFolder } from "../files/snapshots.ts";

export interface Keeper {
  /** Of Cortex. The same home is the same keeper, after a restart too. */
  readonly home: string;
  readonly host: string;
  readonly pid: number;
}

export interface KeeperParts {
  readonly root: string;
  readonly self: Keeper;
  readonly clock: () => number;
  readonly isAlive: (pid: number) => boolean;
}

/** A keeper that has not been heard of for so long is gone. */
export const KEEPER_GONE_MS = 5 * 60_000;
const FILE = "keeper.json";
const SHOWN = `${KEPT_FOLDER}/${FILE}`;

interface Entry extends Keeper {
  readonly atMs: number;
}

/** Says that we keep the team. Gives who does, where that is somebody else. */
export async function keepTeam(parts: KeeperParts): Promise<Keeper | undefined> {
  const { root, self, clock } = parts;
  try {
    const file = join(openKeptFolder(root, KEPT_FOLDER), FILE);
    using _ = await lockFile(file, { shown: SHOWN, clock });
    const now = read(file);
    if (now !== undefined && isOther(now, parts)) return now;
    if (now?.home === self.home && now.pid === self.pid && isRecent(now, clock())) return undefined;
    const temporary = `${file}.${self.pid}`;
    writeFileSync(temporary, JSON.stringify({ ...self, atMs: clock() } satisfies Entry));
    renameSync(temporary, file);
    return undefined;
  } catch (error) {
    throw unwritable(SHOWN, error);
  }
}

/** Lets others keep it. */
export async function giveUpTeam({ root, self, clock }: KeeperParts): Promise<void> {
  const file = join(root, KEPT_FOLDER, FILE);
  if (read(file)?.pid !== self.pid) return;
  using _ = await lockFile(file, { shown: SHOWN, clock });
  const now = read(file);
  if (now?.home === self.home && now.pid === self.pid) rmSync(file, { force: true });
}

function isOther({ home, host, pid, atMs }: Entry, { self, clock, isAlive }: KeeperParts): boolean {
  if (home === self.home && host === self.host) return false;
  if (Math.abs(clock() - atMs) > KEEPER_GONE_MS) return false;
  return host !== self.host || isAlive(pid);
}

/** The folder may be synchronised: it is not written to more often than is needed. */
function isRecent({ atMs }: Entry, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) < KEEPER_GONE_MS / 3;
}

function read(file: string): Entry | undefined {
  try {
    const entry = JSON.parse(readFileSync(file, "utf8")) as Entry;
    return typeof entry?.pid === "number" ? entry : undefined;
  } catch {
    return undefined; // there is none, or none that could be read: then nobody keeps it
  }
}
