/** Whether the simulation would notice: bugs planted in a copy of the source, in which the same seeds run. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { expect, test } from "vitest";

import { patchedSource } from "../crash/patched-source.ts";
import { SIMULATED_BUGS } from "./seeded-bugs.ts";

const SEEDS = 400;
const MINUTES = 60_000;

test.each(SIMULATED_BUGS)(
  "the simulation catches a planted bug: $name",
  { timeout: 15 * MINUTES },
  async (bug) => {
    using source = patchedSource(bug.patches);
    const program = join(source.path, "test", "simulation", "run.ts");
    const child = spawn(process.execPath, [program, "--seeds", String(SEEDS), "--stride", "1"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const ended = once(child, "exit");
    let said = "";
    for await (const chunk of child.stderr.setEncoding("utf8")) {
      said += chunk as string;
      if (bug.symptom.test(said)) break;
    }
    child.kill("SIGKILL");
    await ended;
    expect(said).toMatch(bug.symptom);
  },
);
