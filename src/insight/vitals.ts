/** What the machine has to say: how much memory and disk there is, and how much of it Cortex takes. */
import { stat, statfs } from "node:fs/promises";
import { getHeapStatistics } from "node:v8";

import { hasCode } from "../model/error-code.ts";
import { databasePath } from "../config/home.ts";

export type Vitals = Awaited<ReturnType<typeof readVitals>>;

export async function readVitals(home: string) {
  const path = databasePath(home);
  const [databaseBytes, walBytes, disk] = await Promise.all([
    sizeOf(path),
    sizeOf(`${path}-wal`),
    statfs(home),
  ]);
  const { rss, heapUsed } = process.memoryUsage();
  return {
    memory: { rssBytes: rss, heapUsedBytes: heapUsed, heapLimitBytes: getHeapStatistics().heap_size_limit },
    disk: { databaseBytes, walBytes, freeBytes: disk.bavail * disk.bsize },
  };
}

/** The write-ahead log comes and goes. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return 0;
    throw error;
  }
}
