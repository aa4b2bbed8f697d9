/** A disk of a few megabytes, in a mount namespace of its own: by root, and where the system lets it. */
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { temporaryFolder } from "./temporary.ts";

export function canMountSmallDisk(): boolean {
  using folder = temporaryFolder();
  const mount = ["-m", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.path];
  const can = process.platform === "linux" && spawnSync("unshare", mount).status === 0;
  if (!can) console.warn("SKIPPED: a full disk is not tried here, because no small disk can be mounted.");
  return can;
}

/** Runs a program with the place of such a disk as its first argument. */
export function runOnSmallDisk(
  size: string,
  program: URL,
  ...args: readonly string[]
): Promise<{ said: string; code: number | null }> {
  const folder = temporaryFolder();
  const script = fileURLToPath(program);
  const mount = `mount -t tmpfs -o size=${size} tmpfs "$1" && exec "$2" "$3" "$1" ${args.join(" ")}`;
  const words = ["-m", "sh", "-c", mount, "sh", folder.path, process.execPath, script];
  const child = spawn("unshare", words, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  child.stderr.on("data", (data: Buffer) => (said += data.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      folder[Symbol.dispose]();
      resolve({ said, code });
    });
  });
}
