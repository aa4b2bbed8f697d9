// What a number was measured on. Printed above every table, because a number without it is worth
// nothing a week later.

import { execFileSync } from "node:child_process";
import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";

const probeCount = 200;
const probeBytes = 4096;

/** One line: processors, memory, Node, date and commit. */
export function describeMachine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? "unknown processor";
  const memoryGib = (totalmem() / 2 ** 30).toFixed(0);
  return `${processors.length} x ${model}, ${memoryGib} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}, ${currentMinute()}, commit ${currentCommit()}`;
}

/** `2026-11-16 00:09 UTC`. */
export function currentMinute(): string {
  return `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/**
 * The median time in microseconds of an fdatasync after overwriting 4 KiB on the disk that holds
 * this repository. Virtual disks drift by a factor of 60 within half an hour, so a number from a
 * real disk is quoted only with a probe of the same minute.
 */
export function probeDiskSyncUs(): number {
  const folder = join(import.meta.dirname, ".cache");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `probe-${process.pid}`);
  const page = Buffer.alloc(probeBytes, 1);
  const file = openSync(path, "w");
  try {
    // The first write allocates the block; only overwrites of it are timed.
    writeSync(file, page, 0, probeBytes, 0);
    fdatasyncSync(file);
    const timesUs = Array.from({ length: probeCount }, (_, index) => {
      page[0] = index;
      const startedAtMs = performance.now();
      writeSync(file, page, 0, probeBytes, 0);
      fdatasyncSync(file);
      return (performance.now() - startedAtMs) * 1000;
    });
    return Math.round(timesUs.toSorted((a, b) => a - b)[probeCount / 2] ?? 0);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

export function currentCommit(): string {
  try {
    // What a benchmark before this one has saved changes nothing that is measured.
    const others = [":/", ":(exclude)RESULTS.md", ":(exclude)results.json"];
    const changed = git("status", "--porcelain", "--untracked-files=no", "--", ...others) !== "";
    return git("rev-parse", "--short", "HEAD") + (changed ? " with changes" : "");
  } catch {
    // A tarball has no repository, and a new one no commit; the line is still useful without it.
    return "unknown";
  }
}

function git(...args: string[]): string {
  return execFileSync("git", args, {
    cwd: import.meta.dirname,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}
