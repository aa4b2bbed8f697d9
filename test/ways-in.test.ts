/** From the outside to a turn: a webhook, a file and the clock, each through the hook that its page shows. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import type { Cortex } from "../src/runtime/cortex.ts";
import type { StoredEvent } from "../src/store/store.ts";
import { writeHome } from "./support/home.ts";
import { runHere } from "./support/run-here.ts";
import { openTestServer, PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const SECRET = "a secret of both ends";

function hookOf(page: string): string {
  const text = readFileSync(new URL(`../docs/${page}.md`, import.meta.url), "utf8");
  return /```ts\n(.*?)```/s.exec(text)![1]!;
}

/** What was said in a session, by people and agents. */
async function said(cortex: Cortex, session: string): Promise<string[]> {
  const rows = await cortex.store.query(
    "select m.content from agent_messages m where m.session_id = ? order by m.timestamp, m.sequence",
    [session],
  );
  return rows.map(({ content }) => String(content));
}

test("a webhook that openssl has signed has a turn, through the hook of docs/webhooks.md", async () => {
  await using server = await openTestServer(
    {
      cortex: { channels: { webhooks: { repo: { scheme: "github", secretEnv: "REPO_SECRET" } } } },
      hooks: { "issues.ts": hookOf("webhooks") },
      script: "- { when: .*, plays: [{ say: It needs a test. }] }",
    },
    { environment: { PATH: process.env["PATH"], REPO_SECRET: SECRET } },
  );
  const body = JSON.stringify({ action: "opened", issue: { title: "It is broken" } });
  const printed = execFileSync("openssl", ["dgst", "-sha256", "-hmac", SECRET, "-r"], {
    input: body,
    encoding: "utf8",
  });
  const { status, json } = await server.send({
    method: "POST",
    path: "/webhooks/repo",
    body,
    headers: {
      authorization: undefined,
      "content-type": "application/json",
      "X-Hub-Signature-256": `sha256=${printed.slice(0, 64)}`,
      "X-GitHub-Event": "issues",
      "X-GitHub-Delivery": "d-1",
    },
  });
  expect([status, json.eventId]).toEqual([202, "webhook:repo:d-1"]);
  await expect.poll(() => said(server.cortex, "agent:main:main"), PATIENT).toContain("It needs a test.");
});

test("a file that was dropped while nothing ran has a turn after the start, through the hook of docs/files.md", async () => {
  using folder = temporaryFolder();
  const inbox = join(folder.path, "inbox");
  mkdirSync(inbox);
  writeFileSync(join(inbox, "note.md"), "Call Ada about the invoice");
  const home = join(folder.path, "home");
  writeHome(home, {
    cortex: { channels: { files: { inbox: { folder: inbox, settleMs: 0 } } } },
    hooks: { "filing.ts": hookOf("files") },
    script: "- { when: Call Ada, plays: [{ say: It belongs to Ada. }] }",
  });
  await using server = await openTestServer({}, { home });
  await expect.poll(() => said(server.cortex, "agent:main:main"), PATIENT).toContain("It belongs to Ada.");
});

test("nine o'clock that was missed has one turn after the start, through the hook of docs/schedules.md", async () => {
  using folder = temporaryFolder();
  const home = join(folder.path, "home");
  writeHome(home, {
    cortex: { timezone: "Europe/Berlin" },
    hooks: { "morning.ts": hookOf("schedules") },
    script: "- { when: .*, plays: [{ say: Here is the plan. }] }",
  });
  let nowMs = Date.parse("2026-11-16T07:30:00Z");
  const run = async (work: (cortex: Cortex) => Promise<void>): Promise<void> => {
    await using server = await openTestServer({}, { home, clock: () => nowMs });
    await work(server.cortex);
  };
  const timers = async (cortex: Cortex) =>
    (await cortex.store.events.list({ channel: "timer", direction: "received" })).items.length;
  await run(async (cortex) => {
    await expect.poll(() => timers(cortex), PATIENT).toBe(1);
  });
  nowMs = Date.parse("2026-11-16T11:30:00Z");
  await run(async (cortex) => {
    await expect.poll(() => said(cortex, "agent:main:cron:morning"), PATIENT).toContain("Here is the plan.");
  });
  nowMs += 60_000;
  await run(async (cortex) => {
    await expect.poll(() => timers(cortex), PATIENT).toBe(3);
    await expect.poll(() => cortex.store.hooks.unjudged(), PATIENT).toEqual([]);
    expect(await cortex.store.query("select hook_id from dispatches")).toEqual([{ hook_id: "morning" }]);
  });
});

test("a scheduled time that passed while nothing ran is told of in the hook's runs and by why", async () => {
  using folder = temporaryFolder();
  const home = join(folder.path, "home");
  writeHome(home, {
    cortex: { timezone: "UTC" },
    hooks: { "morning.ts": hookOf("schedules").replace('catchUp: "once"', 'catchUp: "skip"') },
  });
  let nowMs = Date.parse("2026-11-16T07:30:00Z");
  const timerEvents = async (): Promise<readonly StoredEvent[]> => {
    await using server = await openTestServer({}, { home, clock: () => nowMs });
    const { store } = server.cortex;
    const list = async () => (await store.events.list({ channel: "timer" })).items;
    await expect.poll(async () => (await list()).map(({ atMs }) => atMs), PATIENT).toContain(nowMs);
    await expect.poll(() => store.hooks.unjudged(), PATIENT).toEqual([]);
    return list();
  };
  await timerEvents();
  nowMs = Date.parse("2026-11-16T11:30:00Z");
  const [newest] = await timerEvents();

  const reason =
    'missed its scheduled time 2026-11-16T09:00:00.000Z because Cortex was not running, and its catchUp is "skip"';
  const run = (...argv: string[]) => runHere({ CORTEX_HOME: home }, argv);
  expect(await run("hooks", "runs", "morning")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ skipped .*missed its scheduled time 2026-11-16T09:00/),
  });
  expect(await run("why", newest!.id)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`hook morning ${reason}`),
  });
});
