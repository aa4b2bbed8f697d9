// Builds the library that makes every sync take the same time, and hands it to child processes.
// What the library does, and what it does not prove, is said in slowsync.c.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, chmodSync } from "node:fs";
import { join } from "node:path";

const sourcePath = join(import.meta.dirname, "slowsync.c");
const cacheFolder = join(import.meta.dirname, ".cache");

/** Linux mounts a tmpfs here; the slow sync only means something for data that is not on a disk. */
const memoryRoot = "/dev/shm";

/**
 * The path of the compiled library, or undefined where it cannot be had, which is said on stderr.
 * A benchmark that gets undefined must not run on the real disk instead: those numbers do not compare.
 */
export function buildSlowSync(): string | undefined {
  if (process.platform !== "linux" || !existsSync(memoryRoot)) {
    return unavailable(`it needs Linux with a tmpfs at ${memoryRoot}`);
  }
  const source = readFileSync(sourcePath);
  const version = createHash("sha256").update(source).digest("hex").slice(0, 12);
  const library = join(cacheFolder, `slowsync-${process.arch}-${version}.so`);
  if (existsSync(library)) return library;

  mkdirSync(cacheFolder, { recursive: true });
  // Compiled aside and renamed, so that a benchmark started at the same time never loads half a file.
  const unfinished = `${library}.${process.pid}`;
  try {
    execFileSync("cc", ["-O2", "-Wall", "-shared", "-fPIC", "-o", unfinished, sourcePath], {
      stdio: ["ignore", "inherit", "inherit"],
    });
  } catch (error) {
    return unavailable(`no C compiler could build it (apt-get install gcc libc6-dev): ${String(error)}`);
  }
  renameSync(unfinished, library);
  return library;
}

/** The environment for a child whose syncs are to take `syncUs` microseconds each. */
export function slowSyncEnvironment(library: string, syncUs: number): NodeJS.ProcessEnv {
  return { ...process.env, LD_PRELOAD: library, SLOWSYNC_US: String(syncUs) };
}

/**
 * Throws unless the running process has the library loaded. The dynamic linker only warns when it
 * cannot open a preloaded file (a server under another user, say) and then runs at full speed,
 * which would make a peer look fast for the wrong reason.
 */
export function requireSlowSync(pid: number, library: string): void {
  if (!readFileSync(`/proc/${pid}/maps`, "utf8").includes(library)) {
    throw new Error(`Process ${pid} runs without ${library}, so its syncs are not slowed`);
  }
}

/**
 * A new folder in memory that is removed when this process exits, however it exits short of a kill.
 * Other users may look into it, because PostgreSQL refuses to run as root.
 */
export function openMemoryFolder(name: string): string {
  const folder = mkdtempSync(join(memoryRoot, `cortex-bench-${name}-`));
  chmodSync(folder, 0o755);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function unavailable(reason: string): undefined {
  process.stderr.write(`\nBENCHMARK INCOMPLETE: the slow sync library is missing: ${reason}\n\n`);
  return undefined;
}
