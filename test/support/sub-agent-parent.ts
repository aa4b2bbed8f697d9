/** A parent for tests to kill: starts a child of ours and a program that ignores much, says which they are, and stays. */
import { ProcessPool } from "../../src/agents/process/pool.ts";
import { OWN, program } from "./sub-agents.ts";

const [strayFile, folder] = process.argv.slice(2);
const pool = new ProcessPool({
  program: OWN[0]!,
  args: OWN.slice(1),
  folder: folder!,
  environment: process.env,
  maxProcesses: () => 2,
  warm: () => 0,
  warmMs: () => 0,
  strayFile: strayFile!,
  log: () => {},
});
const { signal } = new AbortController();
const own = await pool.acquire({}, signal);
const other = await pool.acquire({ command: program("bad.mjs", "ignores SIGTERM") }, signal);
console.log(JSON.stringify([own!.pid, other!.pid]));
setInterval(() => {}, 1_000_000);
