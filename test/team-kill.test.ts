/** A team whose process is killed in the midst of a task: what was done is not done again, and nothing is lost. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { SMALL_RELAYS } from "./support/small-relays.ts";
import { type TeamHome, teamHome } from "./support/team-home.ts";

const CHILD = fileURLToPath(new URL("support/team-child.ts", import.meta.url));
const LONG = { timeout: 180_000 };
const task = (title: string): string => `## ${title}\n**Status:** ready\n\nDo it.\n\n`;

/** The worker leaves a trace; before it answers, it takes its time. */
const script = (delayMs: number): string => `
- when: "^Cortex tick:"
  plays:
    - calls: [{ tool: Bash, args: { command: "echo worked >> trace.txt" } }]
    - { say: "worked on it", delayMs: ${delayMs} }
`;

function makeHome(): TeamHome {
  const tasks = task("First") + task("Second");
  return teamHome({ dev: { tasks }, "chief-of-staff": {} }, { script: script(600_000) });
}

const trace = (home: TeamHome): string => {
  const file = join(home.path, "workspaces", "projects", "dev", "trace.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};
const statuses = (home: TeamHome): string[] =>
  [...home.tasks("dev").matchAll(/^\*\*Status:\*\* (.*)$/gm)].map(([, status]) => status!);

async function killedWhen(home: TeamHome, isTime: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [CHILD, home.path], { stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(child, "exit");
  await expect.poll(isTime, { ...LONG, interval: 1 }).toBe(true);
  child.kill("SIGKILL");
  await exited;
}

test("a task that was worked on goes on in its turn, and is completed once", LONG, async () => {
  using home = makeHome();
  await killedWhen(home, () => trace(home) !== "");
  expect(statuses(home)).toEqual(["in-progress", "ready"]);
  writeFileSync(join(home.path, "config", "script.yaml"), script(0));
  await using cortex = await home.open();
  await expect.poll(() => statuses(home), LONG).toEqual(["done", "done"]);
  expect(trace(home)).toBe("worked\nworked\n");
  expect(home.tasks("dev").match(/### Summary/g)).toHaveLength(2);
  await expect.poll(async () => (await cortex.store.team.get(home.team, "dev"))?.item, LONG).toBeUndefined();
});

test("a task that was just claimed is worked on once, whatever the moment was", LONG, async () => {
  using home = makeHome();
  await killedWhen(home, () => home.tasks("dev").includes("in-progress"));
  writeFileSync(join(home.path, "config", "script.yaml"), script(0));
  await using cortex = await home.open();
  await expect.poll(() => statuses(home), LONG).toEqual(["done", "done"]);
  const { items } = await cortex.store.events.list({ limit: 100 });
  expect(items.filter(({ id }) => id.startsWith("team:"))).toHaveLength(2);
  // A call that the kill has cut off is not made again, whether or not it has left its trace.
  expect(trace(home)).toMatch(/^(worked\n){1,2}$/);
});

test("a task that is run as a relay goes on with it, and no step is done twice", LONG, async () => {
  const steps = (delayMs: number): string => `
- when: "WRITE"
  plays:
    - calls: [{ tool: Bash, args: { command: "echo wrote >> trace.txt" } }]
    - { say: "I wrote" }
- when: "READ"
  plays:
    - calls: [{ tool: Bash, args: { command: "echo read >> trace.txt" } }]
    - { say: "I read", delayMs: ${delayMs} }
`;
  const tasks = "## a letter\n**Status:** ready\n**Template:** pair\n\nTo grandma.\n";
  using home = teamHome({ dev: { tasks } }, { relays: SMALL_RELAYS, script: steps(600_000) });
  await killedWhen(home, () => trace(home).includes("read"));
  writeFileSync(join(home.path, "config", "script.yaml"), steps(0));
  await using cortex = await home.open();
  await expect.poll(() => statuses(home), LONG).toEqual(["done"]);
  expect(trace(home)).toBe("wrote\nread\n");
  expect(home.tasks("dev")).not.toMatch(/failed|flagged/);
  expect((await cortex.relays.list()).items).toMatchObject([{ status: "completed" }]);
});
