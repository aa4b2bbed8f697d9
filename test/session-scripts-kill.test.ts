/** A process that is killed in the midst of a script of sessions: it is not run again, and nothing after it is left out. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { SCRIPT_ADAPTER } from "../src/model/event.ts";
import { MAIN_SESSION } from "../src/model/session-key.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { groupsIn, isAlive, notedGroup } from "./support/process-groups.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { answerTo, entry, plays, settled } from "./support/workers.ts";

const CHILD = fileURLToPath(new URL("support/saying-child.ts", import.meta.url));
const PATIENT = { timeout: 60_000 };
const SCRIPT = [entry("note", undefined, plays([], "noted")), entry(".*", undefined, plays([], "answered"))];

/** Says that it has begun, and as which process, waits until it may go on, and has something to say. */
const WAITS = "echo $$ >> begun.txt; while [ ! -e go ]; do sleep 0.05; done; echo note;";

/** Kills a Cortex while its script runs, whose group it returns. */
async function killedInScript(home: string, texts: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [CHILD, home, ...texts], { stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(child, "exit");
  const group = await notedGroup(home, "session-scripts.json");
  child.kill("SIGKILL");
  await exited;
  return group;
}

test.each([
  ["onMessageEnd", ["hello"], ["hello again"]],
  ["onNew", ["hello", "/new"], ["hello again", "/new"]],
])("%s is not run again, and is run for what comes next", async (moment, before, after) => {
  using home = temporaryFolder();
  writeHome(home.path, { script: SCRIPT.join("") });
  writeFileSync(
    join(home.path, "config", "session-hooks.json"),
    JSON.stringify({ [moment]: { command: WAITS } }),
  );
  const group = await killedInScript(home.path, before);

  await using cortex = await openTestCortex({}, { home: home.path });
  const ends = async () => {
    const { items } = await cortex.store.events.list({ channel: SCRIPT_ADAPTER, limit: 100 });
    return items.filter(({ id }) => id.endsWith(":end")).map(({ content }) => content);
  };
  await expect.poll(ends, PATIENT).toHaveLength(1);
  expect((await ends())[0]).toMatch(/failed: Cortex stopped while it was running$/);
  await expect.poll(() => isAlive(group), PATIENT).toBe(false);
  writeFileSync(join(home.path, "go"), "");
  for (const content of after) {
    const said = await cortex.say({ content, session: MAIN_SESSION });
    if (said.kind === "message") await answerTo(cortex, said.sent.item);
  }
  await expect.poll(ends, PATIENT).toHaveLength(2);
  await settled(cortex);
  expect((await ends())[0]).toBe("note");
  expect(groupsIn(home.path)).toHaveLength(2);
});
