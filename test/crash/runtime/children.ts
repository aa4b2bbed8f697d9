/** The processes of sub-agents: each is one of the server's, and none may be left when that one is gone. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Random } from "../../simulation/random.ts";

/** How long they have to see that their server was killed. One that has stopped has ended them itself. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 10;
/** Between two looks of who kills them. */
const MAX_PAUSE_MS = 600;

/** Those that run a copy of the source. Only Linux tells; elsewhere none are seen. */
function findChildren(source: string): number[] {
  if (process.platform !== "linux") return [];
  const command = `${join(source, "bin", "cortex.js")}\0sub-agent\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => readCommand(name).includes(command))
    .map(Number);
}

/** Nothing: it has ended. */
function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

export interface KillerParts {
  readonly source: string;
  readonly random: Random;
  /** Whether their server is there. Those that it has left behind are to be found. */
  readonly isServed: () => boolean;
  readonly isOver: () => boolean;
}

/** Kills one now and then, while their server lives on. Gives how many. */
export async function killChildren({ source, random, isServed, isOver }: KillerParts): Promise<number> {
  let killed = 0;
  while (!isOver()) {
    await delay(random.below(MAX_PAUSE_MS));
    if (!isServed() || !random.chance(0.3)) continue;
    const children = findChildren(source);
    if (children.length > 0 && kill(random.pick(children))) killed++;
  }
  return killed;
}

/** What is left of a server that is gone, and is then ended. */
export async function leftBehind(
  source: string,
  { wasKilled }: { readonly wasKilled: boolean },
): Promise<string[]> {
  const until = Date.now() + (wasKilled ? PATIENCE_MS : 0);
  while (findChildren(source).length > 0 && Date.now() < until) await delay(LOOK_MS);
  const left = findChildren(source);
  for (const pid of left) kill(pid);
  return left.map((pid) => `process ${pid} of a sub-agent was left behind`);
}

/** False: it has ended just now. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
