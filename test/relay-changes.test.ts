/** An agent is told what the one before it changed by a program that it ran, also where the process died meanwhile. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import type { RelayId } from "../src/model/ids.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const CHILD = fileURLToPath(new URL("support/relay-child.ts", import.meta.url));
const NEVER = new AbortController().signal;

const agent = (promptTemplate: string) => ({ profile: "__active__", persistSession: false, promptTemplate });
const relays = {
  agents: { coder: agent("Code"), reviewer: agent("Changed:\n{{modifiedFilesWithDiff}}") },
  templates: {
    pair: {
      description: "One codes, one reviews",
      agents: ["coder", "reviewer"],
      transitions: [{ from: "coder", to: "reviewer", condition: { type: "always" } }],
      entryAgent: "coder",
      maxTotalSteps: 2,
    },
  },
};

/** The coder has changed a file before it answers. */
const script = (delayMs: number) => `
- when: "Code$"
  plays:
    - calls: [{ tool: Bash, args: { command: "printf 'one\\\\ntwo\\\\n' > notes.txt" } }]
    - { say: coded, delayMs: ${delayMs} }
- { when: "Changed", plays: [{ say: reviewed }] }
`;

const cortexFile = { relay: { onRestart: "resume" }, sandbox: "off" };

test("what a program changed is told to the next agent", async () => {
  await using cortex = await openTestCortex({ relays, script: script(0), cortex: cortexFile });
  const { id } = await cortex.relays.run({ name: "pair", message: "a house" });
  const { steps, workspacePath } = (await cortex.relays.ended(id, NEVER))!;
  expect(steps[1]!.input).toContain(`### ${workspacePath}/notes.txt\n`);
  expect(steps[1]!.input).toContain("+one\n+two\n");
});

test("also where the process was killed after it, in the midst of the step", async () => {
  using home = temporaryFolder();
  writeHome(home.path, { relays, script: script(600_000), cortex: cortexFile });
  const child = spawn(process.execPath, [CHILD, home.path, "pair"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  const id = chunk.toString().trim() as RelayId;
  const notes = join(home.path, "tmp", "threads", id, "notes.txt");
  await expect.poll(() => existsSync(notes) && readFileSync(notes, "utf8"), PATIENT).toBe("one\ntwo\n");
  child.kill("SIGKILL");
  await exited;
  writeFileSync(join(home.path, "config", "script.yaml"), script(0));

  await using cortex = await openTestCortex({}, { home: home.path });
  const { steps } = (await cortex.relays.ended(id, NEVER))!;
  expect(steps[1]!.input).toContain(`### ${notes}\n`);
  expect(steps[1]!.input).toContain("+one\n+two\n");
});
