import type { SeededBug } from "../crash/patched-source.ts";
import { SWALLOWING } from "../crash/runtime/seeded-bugs.ts";

/** Mistakes that the simulation must notice, each made on purpose. */
export const SIMULATED_BUGS: readonly SeededBug[] = [
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
