/**
 * Which Cortex works on a team. Two at once would resume each other's work, so the second waits until the first is gone. This
 * works on a shared disk only: a synced folder reaches the other machine late, or never.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { unwritable } from "../files/team-errors.ts";
import { lockFile } from "../files/file-lock.ts";
import { KEPT_FOLDER, openKeptFolder } from "../files/confine.ts";

export interface Keeper {
  /** The home of its Cortex, which stays the same keeper after a restart. */
  readonly home: string;
  readonly host: string;
  readonly pid: number;
}

/** A keeper and the team it wants to keep. */
export interface TeamKeeping {
  readonly root: string;
  readonly self: Keeper;
  readonly clock: () => number;
  readonly isAlive: (pid: number) => boolean;
}

/** A keeper that has not renewed its claim for this long is gone. */
export const KEEPER_GONE_MS = 5 * 60_000;
const FILE = "keeper.json";
const SHOWN = `${KEPT_FOLDER}/${FILE}`;

interface KeptSeat extends Keeper {
  readonly atMs: number;
}

/** Claims the team for `self`. Returns the current keeper if that is another one. */
export async function keepTeam(keeping: TeamKeeping): Promise<Keeper | undefined> {
  const { root, self, clock } = keeping;
  try {
    const file = join(openKeptFolder(root, KEPT_FOLDER), FILE);
    using _ = await lockFile(file, { shown: SHOWN, clock });
    const now = read(file);
    if (now !== undefined && isOther(now, keeping)) return now;
    if (now?.home === self.home && now.pid === self.pid && isRecent(now, clock())) return undefined;
    const temporary = `${file}.${self.pid}`;
    writeFileSync(temporary, JSON.stringify({ ...self, atMs: clock() } satisfies KeptSeat));
    renameSync(temporary, file);
    return undefined;
  } catch (error) {
    throw unwritable(SHOWN, error);
  }
}

/** Releases the team, so that another Cortex can claim it. */
export async function giveUpTeam({ root, self, clock }: TeamKeeping): Promise<void> {
  const file = join(root, KEPT_FOLDER, FILE);
  if (read(file)?.pid !== self.pid) return;
  using _ = await lockFile(file, { shown: SHOWN, clock });
  const now = read(file);
  if (now?.home === self.home && now.pid === self.pid) rmSync(file, { force: true });
}

function isOther({ home, host, pid, atMs }: KeptSeat, { self, clock, isAlive }: TeamKeeping): boolean {
  if (home === self.home && host === self.host) return false;
  if (Math.abs(clock() - atMs) > KEEPER_GONE_MS) return false;
  return host !== self.host || isAlive(pid);
}

/** The folder may be synced, so it is not written more often than necessary. */
function isRecent({ atMs }: KeptSeat, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) < KEEPER_GONE_MS / 3;
}

function read(file: string): KeptSeat | undefined {
  try {
    const entry = JSON.parse(readFileSync(file, "utf8")) as KeptSeat;
    return typeof entry?.pid === "number" ? entry : undefined;
  } catch {
    return undefined; // missing or invalid: the team has no keeper
  }
}
