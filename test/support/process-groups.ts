/** Programs that say as which process they have begun, in a file of the home: each leads a group of its own. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

import { listProcesses } from "../../src/agents/process/list-processes.ts";

const PATIENT = { timeout: 90_000 };

export function groupsIn(home: string): number[] {
  const file = join(home, "begun.txt");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map(Number);
}

/** The one that has begun, once Cortex has noted it: from then on it would be ended after a crash. */
export async function notedGroup(home: string, file: string): Promise<number> {
  const notes = (): string => {
    const path = join(home, "data", file);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  await expect.poll(() => groupsIn(home), PATIENT).toHaveLength(1);
  const [group] = groupsIn(home);
  await expect.poll(notes, PATIENT).toContain(`"pid":${group!}`);
  expect(await isAlive(group!)).toBe(true);
  return group!;
}

/** Whether anybody is left of a group. One that has ended counts no more, though nobody may have asked about it yet. */
export async function isAlive(group: number): Promise<boolean> {
  return (await listProcesses()).some((each) => each.group === group);
}
