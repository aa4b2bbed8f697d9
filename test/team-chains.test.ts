/** Tasks and flags of a team are links of the chain of events that led to them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { normalizeSessionKey } from "../src/model/session-key.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { explain } from "../src/insight/why.ts";
import type { StoredEvent } from "../src/store/store.ts";
import { PATIENT } from "./support/server.ts";
import { SMALL_RELAYS, SMALL_SCRIPT } from "./support/small-relays.ts";
import { type TeamHome, teamHome, type TeamHomeFiles } from "./support/team-home.ts";
import { answerTo, entry, plays } from "./support/workers.ts";

const CHIEF = normalizeSessionKey("agent:chief-of-staff:main");
const CHILD = fileURLToPath(new URL("support/team-child.ts", import.meta.url));
const GIVES = entry(
  "let dev",
  "chief-of-staff",
  plays([["dispatch_task", { agent: "dev", title: "Add tests", body: "For all." }]], "given"),
);
const WORKS = entry("^Cortex tick:", "dev", plays([], "tested"));
const FLAGS = entry("^Cortex tick:", "dev", plays([["flag_task", { reason: "no access" }]], "sorry"));
const SILENT = entry("^Cortex custom: a member", "chief-of-staff", plays([], "NO_REPLY"));

function makeHome(files: TeamHomeFiles, dev: object = {}): TeamHome {
  return teamHome({ "chief-of-staff": {}, dev }, files);
}

async function askFor(cortex: Cortex): Promise<StoredEvent> {
  const { event, item } = await cortex.send({ content: "let dev add tests", session: CHIEF });
  expect(await answerTo(cortex, item)).toBe("given");
  return (await cortex.store.events.get(event))!;
}

/** By the beginning of their ids, oldest first. */
async function eventsOf({ store }: Cortex, prefix: string): Promise<StoredEvent[]> {
  const { items } = await store.events.list({ limit: 100 });
  return items.filter(({ id }) => id.startsWith(prefix)).toReversed();
}

const isDone = (home: TeamHome) => () => home.tasks("dev").includes("**Status:** done");

test(
  "a task that the coordinator dispatches is a link deeper than the message that asked for it",
  PATIENT,
  async () => {
    using home = makeHome({ script: GIVES + WORKS });
    await using cortex = await home.open();
    const asked = await askFor(cortex);
    expect(home.tasks("dev")).not.toContain(asked.id);
    await (await cortex.team.open()).tick("dev");
    await expect.poll(isDone(home), PATIENT).toBe(true);
    const [task] = await eventsOf(cortex, "team:");
    expect(task).toMatchObject({ cause: asked.id, depth: 1 });
    const { chain } = await explain(cortex.store, task!.id);
    expect(chain.map(({ id }) => id)).toEqual([task!.id, asked.id]);
  },
);

test(
  "a task that a person writes into the file begins a chain, also one that was dispatched before",
  PATIENT,
  async () => {
    using home = makeHome({ script: GIVES + WORKS });
    await using cortex = await home.open();
    await askFor(cortex);
    await (await cortex.team.open()).tick("dev");
    await expect.poll(isDone(home), PATIENT).toBe(true);
    home.write("agents/dev/tasks.md", `${home.tasks("dev")}\n## Add tests\n**Status:** ready\n\nFor all.\n`);
    await (await cortex.team.open()).tick("dev");
    await expect.poll(() => eventsOf(cortex, "team:"), PATIENT).toMatchObject([{ depth: 1 }, { depth: 0 }]);
  },
);

test("a hook that fires on what a dispatched task has come to ends with the chain", PATIENT, async () => {
  const hook = `export const filter = { directions: ["sent"], channels: ["team"] };
export default async () => ({ fire: true, routing: { session: "${CHIEF}" }, context: { prompt: "let dev go on" } });`;
  using home = makeHome({
    script: GIVES + WORKS,
    hooks: { "again.ts": hook },
    cortex: { timezone: "UTC", sandbox: "off", broker: { maxChain: 2 } },
  });
  const lines: string[] = [];
  await using cortex = await home.open({ log: (line) => void lines.push(line) });
  const asked = await askFor(cortex);
  await (await cortex.team.open()).tick("dev");
  await expect
    .poll(() => lines, PATIENT)
    .toContainEqual(
      expect.stringContaining(
        `Stopped the event chain that began with ${asked.id}: the hook again reached the chain limit`,
      ),
    );
  expect(home.tasks("dev").match(/^## /gm)).toHaveLength(1);
  await expect.poll(() => cortex.store.hooks.get("again"), PATIENT).toMatchObject({ consecutiveErrors: 1 });
});

test("the steps of a relay that a dispatched task is run as belong to its chain", PATIENT, async () => {
  const wish = { agent: "dev", title: "a letter", template: "pair" };
  using home = makeHome({
    script: entry("let dev", "chief-of-staff", plays([["dispatch_task", wish]], "given")) + SMALL_SCRIPT,
    relays: SMALL_RELAYS,
  });
  await using cortex = await home.open();
  const asked = await askFor(cortex);
  await (await cortex.team.open()).tick("dev");
  await expect.poll(isDone(home), PATIENT).toBe(true);
  const steps = await eventsOf(cortex, "relay:");
  expect(steps.map(({ cause, depth }) => ({ cause, depth }))).toEqual([
    { cause: asked.id, depth: 1 },
    { cause: asked.id, depth: 1 },
  ]);
});

test("what the coordinator is told of a flag is a link deeper than the task", PATIENT, async () => {
  using home = makeHome({ script: GIVES + FLAGS + SILENT });
  await using cortex = await home.open();
  await askFor(cortex);
  await (await cortex.team.open()).tick("dev");
  const notices = () => eventsOf(cortex, "team:flag:");
  await expect.poll(notices, PATIENT).toHaveLength(1);
  const task = (await eventsOf(cortex, "team:")).find(({ id }) => !id.startsWith("team:flag:"))!;
  expect(task).toMatchObject({ depth: 1 });
  expect(await notices()).toMatchObject([{ cause: task.id, depth: 2 }]);
});

test("a flag that another runner writes carries what led to the task", PATIENT, async () => {
  using home = makeHome({ script: GIVES + SILENT }, { isForeign: true });
  await using cortex = await home.open();
  const asked = await askFor(cortex);
  const flagged = home
    .tasks("dev")
    .replace("ready", "in-progress\n**Started:** 2026-03-28T08:00")
    .concat("\n### Progress\n- 2026-03-28T09:00 flagged: no access\n");
  home.write("agents/dev/tasks.md", flagged);
  await (await cortex.team.open()).tick("chief-of-staff");
  await expect
    .poll(() => eventsOf(cortex, "team:flag:"), PATIENT)
    .toMatchObject([{ cause: asked.id, depth: 1 }]);
});

test("a task whose attempts fail stays in its chain", PATIENT, async () => {
  using home = makeHome({
    script: GIVES + entry("^Cortex tick:", "dev", JSON.stringify([{ fault: "refused" }])),
    cortex: { timezone: "UTC", sandbox: "off", broker: { retryMs: 0, maxAttempts: 1 } },
  });
  await using cortex = await home.open();
  const asked = await askFor(cortex);
  await (await cortex.team.open()).tick("dev");
  await expect.poll(() => home.tasks("dev"), PATIENT).toContain("attempt 1 failed");
  await (await cortex.team.open()).tick("dev");
  const attempts = async () =>
    (await eventsOf(cortex, "team:")).filter(({ id }) => !id.startsWith("team:flag:"));
  await expect.poll(async () => (await attempts()).length, PATIENT).toBeGreaterThan(1);
  for (const attempt of await attempts()) expect(attempt).toMatchObject({ cause: asked.id, depth: 1 });
});

test("a process killed after it has dispatched a task remembers what led to it", PATIENT, async () => {
  using home = makeHome({ script: GIVES + WORKS }, { isForeign: true });
  const child = spawn(process.execPath, [CHILD, home.path, "let dev add tests"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = once(child, "exit");
  await expect.poll(() => home.tasks("dev"), { ...PATIENT, interval: 1 }).toContain("## Add tests");
  child.kill("SIGKILL");
  await exited;
  home.write("agents/dev/dev.md", home.note("dev").replace("status:", "runtime: cortex\nstatus:"));
  await using cortex = await home.open();
  await expect.poll(isDone(home), PATIENT).toBe(true);
  const [asked] = await eventsOf(cortex, "http:");
  expect(await eventsOf(cortex, "team:")).toMatchObject([{ cause: asked!.id, depth: 1 }]);
});
