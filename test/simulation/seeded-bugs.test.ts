/** Whether the simulation would notice: bugs planted in a copy of the source, in which the same seeds run. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type Patch, patchedSource } from "../crash/patched-source.ts";
import { SWALLOWING } from "../crash/runtime/seeded-bugs.ts";

interface SimulatedBug {
  readonly name: string;
  readonly symptom: RegExp;
  readonly patches: readonly Patch[];
}

const BUGS: readonly SimulatedBug[] = [
  {
    name: "a message becomes part of the turn that it interrupts",
    symptom: /expected: 'state_conflict'/,
    patches: [SWALLOWING],
  },
  {
    name: "a message becomes part of the turn that it interrupts, and the model thinks that it may",
    symptom: /no message is swallowed by a turn that it interrupted/,
    patches: [
      SWALLOWING,
      {
        file: "test/simulation/model.ts",
        from: '        if (run.abort !== undefined && this.#bringsNew(run, entry.items)) throw new Refused("state_conflict");\n',
        to: "",
      },
    ],
  },
];

const SEEDS = 400;
const MINUTES = 60_000;

test.each(BUGS)("the simulation catches a planted bug: $name", { timeout: 15 * MINUTES }, async (bug) => {
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
});
