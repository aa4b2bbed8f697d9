/** The sandbox of this machine, for tests that need one. */
import type { Sandbox } from "../../src/model/tool.ts";
import { findBubblewrap } from "../../src/turns/sandbox.ts";

/** Undefined where there is none; then it is said what is not tested, and how to get it. */
export async function findSandbox(untested: string): Promise<Sandbox | undefined> {
  const found = await findBubblewrap(process.env);
  if ("bubblewrap" in found) return found;
  console.warn(`NOT TESTED: ${untested}, because ${found.problem}. ${found.hint}`);
  return undefined;
}
