/**
 * Loaded before a program: it is killed right before the n-th time that it changes something on the disk, with n in
 * DIE_BEFORE_WRITE. So every state that a kill can leave is tried, without the program knowing.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

type Call = (this: unknown, ...args: unknown[]) => unknown;

let left = Number(process.env["DIE_BEFORE_WRITE"]);

const CALLS = [
  "appendFileSync",
  "copyFileSync",
  "linkSync",
  "mkdirSync",
  "renameSync",
  "rmSync",
  "writeFileSync",
];
for (const name of CALLS) wrap(fs as unknown as Record<string, Call>, name);

const handle = await fs.promises.open(import.meta.filename);
const prototype = Object.getPrototypeOf(handle) as Record<string, Call>;
await handle.close();
for (const name of ["chmod", "sync", "writeFile"]) wrap(prototype, name);
wrap(fs.promises as unknown as Record<string, Call>, "open");
syncBuiltinESMExports();

function wrap(holder: Record<string, Call>, name: string): void {
  const original = holder[name]!;
  holder[name] = function (...args) {
    if (--left === 0) process.kill(process.pid, "SIGKILL");
    return original.apply(this, args);
  };
}
