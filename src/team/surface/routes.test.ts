import { expect, test } from "vitest";

import { openTestServer, PATIENT, type TestServer } from "../../../test/support/server.ts";
import { type TeamHome, teamHome } from "../../../test/support/team-home.ts";
import { entry, plays } from "../../../test/support/workers.ts";

const NOW_MS = Date.UTC(2026, 2, 28, 10);
const clock = (): number => NOW_MS;
const TASKS = `## Add a webhook
**Status:** in-progress
**Started:** 2026-03-28T08:33

With tests.

## Write it down
**Status:** ready

## Old
**Status:** done
**Started:** 2026-03-01T08:00
**Completed:** 2026-03-28T09:00

### Summary
It is old.

<!-- cortex:last-tick 2026-03-28T09:57 -->
`;

const open = (home: TeamHome): Promise<TestServer> => openTestServer({}, { home: home.path, clock });
const post = (server: TestServer, path: string, json?: unknown) =>
  server.send({ method: "POST", path, ...(json === undefined ? {} : { json }) });

test("a team is shown as its files say it is, with as many of its tasks as are wanted", PATIENT, async () => {
  using home = teamHome({ claude: { isForeign: true, tasks: TASKS } });
  home.write("projects/site.md", "---\ntype: project\nstatus: active\n---\n## Next Action\n- Launch\n");
  await using server = await open(home);
  const { status, json } = await server.send("/api/team");
  expect(status).toBe(200);
  expect(json).toMatchObject({
    root: home.team,
    at: "2026-03-28T10:00:00.000Z",
    timezone: "UTC",
    members: [
      {
        slug: "claude",
        name: "claude",
        role: "Do it.",
        status: "active",
        runtime: null,
        isCoordinator: false,
        isManaged: false,
        liveness: { state: "fresh", ageMs: 180_000, isAhead: false },
        lastTick: "2026-03-28T09:57",
        counts: { ready: 1, inProgress: 1, done: 1, unknown: 0 },
        noteFile: "agents/claude/claude.md",
        tasks: [
          {
            title: "Add a webhook",
            status: "in-progress",
            started: "2026-03-28T08:33",
            completed: null,
            forMs: 5_220_000,
            body: "With tests.",
            summary: null,
            flag: null,
            line: 1,
          },
          { title: "Write it down", status: "ready" },
          { title: "Old", status: "done", summary: "It is old." },
        ],
      },
    ],
    projects: [{ slug: "site", file: "projects/site.md", nextActions: ["Launch"] }],
  });
  const shown = async (query: string): Promise<number> =>
    (await server.send(`/api/team${query}`)).json.members[0].tasks.length;
  expect(await shown("?tasks=active")).toBe(2);
  expect(await shown("?tasks=none")).toBe(0);
  expect((await server.send("/api/team?tasks=few")).status).toBe(400);
});

test(
  "a member that others run is adopted over HTTP, and has the reason why nothing happened before",
  PATIENT,
  async () => {
    using home = teamHome({ claude: { isForeign: true, tasks: "## A\n**Status:** ready\n" } });
    await using server = await open(home);
    const [before] = (await server.send("/api/team")).json.members;
    expect(before).toMatchObject({
      isManaged: false,
      notices: [expect.stringContaining("cortex team adopt claude")],
    });
    const adopted = await post(server, "/api/team/adopt", { agent: "Claude" });
    expect([adopted.status, adopted.json]).toEqual([
      200,
      { agent: "claude", file: "agents/claude/claude.md", changed: true, isInactive: false },
    ]);
    expect(home.note("claude")).toContain("runtime: cortex\n");
    await expect.poll(() => home.tasks("claude"), PATIENT).toContain("**Status:** done");
    expect((await post(server, "/api/team/adopt", { agent: "nobody" })).status).toBe(404);
  },
);

test("a task that is given is in the file, and whoever watches is told", PATIENT, async () => {
  using home = teamHome({ claude: { isForeign: true }, gone: { status: "inactive" } });
  await using server = await open(home);
  const response = await fetch(`${server.server.url}/api/stream`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  const body = "  Two\nlines";
  const given = await post(server, "/api/team/tasks", { agent: "claude", title: "Add a webhook", body });
  expect([given.status, given.json]).toEqual([
    201,
    { agent: "claude", title: "Add a webhook", ordinal: 1, file: "agents/claude/tasks.md" },
  ]);
  expect(home.tasks("claude")).toMatch(/^## Add a webhook\n\*\*Status:\*\* ready\n\n +Two\nlines\n/);
  let told = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    told += chunk;
    if (/^event: team\.changed$/m.test(told)) break;
  }
  expect(told).toMatch(/event: team\.changed\ndata: \{"type":"team\.changed","at":"/);

  const refused = async (json: unknown) => {
    const { status, json: said } = await post(server, "/api/team/tasks", json);
    return [status, said.error.code];
  };
  expect(await refused({ agent: "nobody", title: "x" })).toEqual([404, "member_unknown"]);
  expect(await refused({ agent: "gone", title: "x" })).toEqual([409, "state_conflict"]);
  expect(await refused({ agent: "claude", title: "" })).toEqual([400, "request_invalid"]);
  expect(await refused({ agent: "claude", title: " \n " })).toEqual([400, "request_invalid"]);
  expect(await refused({ agent: "claude", title: "x", colour: "red" })).toEqual([400, "request_invalid"]);
});

test("a tick has a member do its tasks now", PATIENT, async () => {
  const script = entry("^Cortex tick:", undefined, plays([], "It is done."));
  using home = teamHome({ dev: {}, claude: { isForeign: true } }, { script });
  await using server = await open(home);
  await post(server, "/api/team/tasks", { agent: "dev", title: "Do it" });
  const ticked = await post(server, "/api/team/tick", { agent: "dev" });
  expect(ticked).toMatchObject({
    status: 200,
    json: {
      members: [{ agent: "dev", state: "working", task: { title: "Do it", ordinal: 1 }, detail: null }],
    },
  });
  const task = async () => (await server.send("/api/team")).json.members[1].tasks[0];
  await expect.poll(task, PATIENT).toMatchObject({ status: "done", summary: "It is done." });
  const all = await post(server, "/api/team/tick");
  expect(all.json.members).toMatchObject([
    { agent: "claude", state: "foreign" },
    { agent: "dev", state: "idle" },
  ]);
  expect(await post(server, "/api/team/tick", { agent: "nobody" })).toMatchObject({
    status: 404,
    json: { error: { code: "member_unknown" } },
  });
});

test(
  "briefing and review come as facts and as text, and housekeeping says what it did",
  PATIENT,
  async () => {
    const old = TASKS.replace("2026-03-28T09:00", "2026-03-02T09:00");
    using home = teamHome({
      claude: { isForeign: true, tasks: TASKS },
      other: { isForeign: true, tasks: old },
    });
    await using server = await open(home);
    const briefing = await server.send("/api/team/briefing");
    expect(briefing).toMatchObject({
      status: 200,
      json: {
        text: expect.stringMatching(/^# Briefing — 2026-03-28 10:00\n\n2 members, 2 fresh/),
        facts: {
          totals: { members: 2, ready: 2, inProgress: 2 },
          inProgress: [{ title: "Add a webhook", forMs: 5_220_000, progress: null }, {}],
        },
      },
    });
    const review = await server.send("/api/team/review");
    expect(review).toMatchObject({
      status: 200,
      json: {
        text: expect.stringMatching(/^# Review — 2026-03-28\n\n1 done today/),
        facts: { date: "2026-03-28", doneToday: [{ title: "Old", summary: "It is old." }] },
      },
    });
    const kept = await post(server, "/api/team/housekeeping");
    expect(kept).toMatchObject({
      status: 200,
      json: {
        removed: [{ slug: "other", title: "Old", completed: "2026-03-02T09:00" }],
        trimmed: [],
        committed: null,
        isPostponed: false,
        failed: [],
      },
    });
    expect(home.tasks("other")).not.toContain("## Old");
  },
);

test("where there is no team, every request says how to make one", PATIENT, async () => {
  await using server = await openTestServer();
  for (const sending of [
    { method: "GET", path: "/api/team" },
    { method: "POST", path: "/api/team/tasks", json: { agent: "a", title: "b" } },
    { method: "POST", path: "/api/team/tick" },
    { method: "POST", path: "/api/team/housekeeping" },
    { method: "GET", path: "/api/team/briefing" },
    { method: "GET", path: "/api/team/review" },
  ]) {
    expect(await server.send(sending)).toMatchObject({
      status: 404,
      json: { error: { code: "team_missing", hint: expect.stringContaining("cortex team init") } },
    });
  }
});
