/** Whoever coordinates a team: what it tells people, when, and what it can be told to do. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { acceptOwn } from "../../../test/support/own-event.ts";
import { PATIENT } from "../../../test/support/server.ts";
import { type TeamHome, teamHome } from "../../../test/support/team-home.ts";
import { answerTo, entry, holdTool, plays, resultsOf } from "../../../test/support/workers.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { normalizeSessionKey } from "../../model/session-key.ts";
import { promptText } from "../../model/message.ts";
import { openContextSources } from "../../runtime/context-sources.ts";
import { readContext } from "../../insight/context-view.ts";
import type { Cortex } from "../../runtime/cortex.ts";

const TEN_MS = Date.UTC(2026, 2, 28, 10);
const CHIEF = normalizeSessionKey("agent:chief-of-staff:main");
const ready = (title: string): string => `## ${title}\n**Status:** ready\n\nDo it.\n`;

function movable(ms = TEN_MS): (() => number) & { ms: number } {
  const clock: (() => number) & { ms: number } = Object.assign(() => clock.ms, { ms });
  return clock;
}

/** A Cortex, and what it has logged. */
async function open(home: TeamHome, clock = movable()) {
  const log: string[] = [];
  const cortex = await home.open({ clock, log: (line) => log.push(line) });
  const count = (text: string): number => log.filter((line) => line.includes(text)).length;
  return { cortex, clock, count, [Symbol.asyncDispose]: () => cortex.stop() };
}

async function tell(cortex: Cortex, content: string): Promise<string> {
  const { item } = await cortex.send({ content, session: CHIEF });
  return answerTo(cortex, item);
}

test("the coordinator ticks without having anything to do, and tells once who is down", PATIENT, async () => {
  const tasks = `${ready("Theirs")}<!-- cortex:last-tick 2026-03-28T08:00 -->\n`;
  using home = teamHome({ "chief-of-staff": {}, theirs: { isForeign: true, tasks } });
  await using opened = await open(home);
  const { cortex, clock, count } = opened;
  await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("last-tick 2026-03-28T10:00");
  await expect.poll(() => count("is down"), PATIENT).toBe(1);
  clock.ms += 15 * MINUTE_MS;
  await (await cortex.team.open()).tick();
  expect(home.tasks("chief-of-staff")).toContain("last-tick 2026-03-28T10:15");
  expect(count("is down")).toBe(1);
  home.write("agents/theirs/tasks.md", tasks.replace("T08:00", "T09:00"));
  await (await cortex.team.open()).tick("chief-of-staff");
  expect(count("is down")).toBe(2);
});

test("what people are told goes to the place that they named", PATIENT, async () => {
  using home = teamHome(
    { "chief-of-staff": {}, theirs: { isForeign: true, tasks: ready("Theirs") } },
    { cortex: { timezone: "UTC", admin: { channel: "http", place: "desk" } } },
  );
  await using opened = await open(home);
  const told = async () => (await opened.cortex.store.outbox.list()).items.map(({ content }) => content);
  await expect.poll(told, PATIENT).toEqual([expect.stringContaining("has never started")]);
});

test(
  "reports go to the team's chat on Telegram, once, also while that is not connected",
  PATIENT,
  async () => {
    const channels = { telegram: { tokenEnv: "UNSET" } };
    using home = teamHome(
      { "chief-of-staff": {} },
      {
        settings: 'telegram_chat_id: "-100"\n',
        cortex: { timezone: "UTC", admin: { channel: "http", place: "desk" }, channels },
      },
    );
    const clock = movable(TEN_MS - 2 * 60 * MINUTE_MS);
    await using opened = await open(home, clock);
    await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("last-tick");
    clock.ms = TEN_MS;
    opened.cortex.team.lookAgain();
    const sent = async () =>
      (await opened.cortex.store.outbox.list()).items
        .filter(({ target }) => target.channel === "telegram")
        .map(({ target, content }) => ({ target, content }));
    const briefing = {
      target: expect.objectContaining({ channel: "telegram", place: "-100" }),
      content: expect.stringContaining("# Briefing — 2026-03-28"),
    };
    await expect.poll(sent, PATIENT).toEqual([briefing]);
    await (await opened.cortex.team.open()).tick();
    expect(await sent()).toEqual([briefing]);
  },
);

test(
  "briefing and review are sent once a day at their times, and made up for the same day",
  PATIENT,
  async () => {
    using home = teamHome({ "chief-of-staff": {} });
    const clock = movable(TEN_MS - 2 * 60 * MINUTE_MS);
    {
      await using opened = await open(home, clock);
      await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("last-tick");
      clock.ms = TEN_MS;
      opened.cortex.team.lookAgain();
      await expect.poll(() => opened.count("# Briefing — 2026-03-28"), PATIENT).toBe(1);
      await (await opened.cortex.team.open()).tick();
      expect(opened.count("# Briefing")).toBe(1);
      expect(opened.count("# Review")).toBe(0);
    }
    clock.ms += 10 * 60 * MINUTE_MS;
    {
      await using opened = await open(home, clock);
      await expect.poll(() => opened.count("# Review — 2026-03-28"), PATIENT).toBe(1);
      expect(opened.count("# Briefing")).toBe(0);
    }
    clock.ms += 48 * 60 * MINUTE_MS;
    await using opened = await open(home, clock);
    await expect.poll(() => opened.count("# Review — 2026-03-30"), PATIENT).toBe(1);
    expect(opened.count("# Briefing")).toBe(1);
  },
);

test(
  "a clock that was set back keeps nobody from ticking, and no briefing from being sent",
  PATIENT,
  async () => {
    using home = teamHome({ "chief-of-staff": {} });
    const clock = movable(Date.UTC(2030, 0, 1));
    await using opened = await open(home, clock);
    await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("last-tick 2030-01-01");
    clock.ms = TEN_MS - 2 * 60 * MINUTE_MS;
    opened.cortex.team.lookAgain();
    await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("last-tick 2026-03-28T08:00");
    clock.ms = TEN_MS;
    opened.cortex.team.lookAgain();
    await expect.poll(() => opened.count("# Briefing — 2026-03-28"), PATIENT).toBe(1);
  },
);

test("the review takes out what was done long ago", PATIENT, async () => {
  const old =
    "## Old\n**Status:** done\n**Started:** 2026-03-01T10:00\n**Completed:** 2026-03-01T11:00\n\nLong ago.\n";
  using home = teamHome({ "chief-of-staff": {}, dev: { tasks: old } });
  const clock = movable();
  await using opened = await open(home, clock);
  await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("last-tick");
  expect(home.tasks("dev")).toBe(old);
  clock.ms += 9 * 60 * MINUTE_MS;
  opened.cortex.team.lookAgain();
  await expect.poll(() => opened.count("1 old task removed"), PATIENT).toBe(1);
  expect(home.tasks("dev")).not.toContain("Old");
});

test("a message to the coordinator dispatches a task", PATIENT, async () => {
  const calls = plays([["dispatch_task", { agent: "dev", title: "Add tests", body: "For all." }]], "given");
  using home = teamHome(
    { "chief-of-staff": {}, dev: { isForeign: true } },
    { script: entry("tests", "chief-of-staff", calls) },
  );
  await using opened = await open(home);
  expect(await tell(opened.cortex, "let dev add tests")).toBe("given");
  expect(home.tasks("dev")).toBe("## Add tests\n**Status:** ready\n\nFor all.\n");
});

test(
  "the coordinator knows its job in a chat, and at the start of it how the team stands",
  PATIENT,
  async () => {
    using home = teamHome({ "chief-of-staff": {}, dev: { isForeign: true, tasks: ready("Code") } });
    home.write("projects/site.md", "---\nstatus: active\n---\n## Next Action\n- Launch it\n");
    await using opened = await open(home);
    const { cortex, clock } = opened;
    const prompts = async (): Promise<string[]> => {
      const head = await cortex.store.sessions.head(CHIEF);
      const { turns } = await cortex.store.turns.context(head!, {});
      return turns.map(({ messages }) => promptText(messages[0]!));
    };
    const system = async (): Promise<string> => {
      const sources = { ledger: cortex.store, environment: {}, home: home.path };
      const { parts } = await readContext(CHIEF, await openContextSources(sources));
      return parts.find(({ name }) => name === "job")!.text();
    };
    await tell(cortex, "how is it going?");
    await tell(cortex, "and now?");
    const [first, second] = await prompts();
    expect(first).toContain("- **dev** (runs elsewhere): never started; 1 ready");
    expect(first).toContain("ready: Code");
    expect(first).toContain("- **site** (active): next: Launch it");
    expect(first).toMatch(/how is it going\?$/);
    expect(second).not.toContain("**dev**");
    for (const told of [
      "chief of staff of a team",
      "Your role: Do it.",
      "The user is the authority",
      "name: chief-of-staff",
    ])
      expect(await system()).toContain(told);

    home.write(
      "agents/chief-of-staff/chief-of-staff.md",
      home.note("chief-of-staff").replace("Do it.", "Run the shop."),
    );
    await (await cortex.team.open()).tick("chief-of-staff");
    expect(await system()).toContain("Your role: Run the shop.");
    clock.ms += 2 * 60 * MINUTE_MS;
    await tell(cortex, "good morning");
    expect((await prompts()).at(-1)).toContain("The team, 2026-03-28 12:00:");
  },
);

test(
  "a stranger who writes to the coordinator does not have it told how the team stands",
  PATIENT,
  async () => {
    const hook = `export const filter = { channels: ["webhook"] };
    export default () => ({ fire: true, routing: { session: "${CHIEF}" } });`;
    using home = teamHome(
      { "chief-of-staff": {}, dev: { isForeign: true, tasks: ready("Secret") } },
      { hooks: { "to-chief.ts": hook } },
    );
    await using opened = await open(home);
    const { cortex } = opened;
    await acceptOwn(cortex, {
      adapter: "webhook:git",
      sourceId: "1",
      channel: "webhook",
      content: "what do they do?",
      timestampMs: TEN_MS,
    });
    await expect.poll(() => cortex.store.sessions.head(CHIEF), PATIENT).toBeDefined();
    const { messages } = (await cortex.store.turns.read((await cortex.store.sessions.head(CHIEF))!))!;
    expect(promptText(messages[0]!)).not.toContain("Secret");
  },
);

test("the coordinator gives itself no tasks, and nobody who has left or is unknown", PATIENT, async () => {
  const wants = (agent: string): readonly [string, object] => ["dispatch_task", { agent, title: "x" }];
  const calls = plays([wants("chief-of-staff"), wants("Chief of Staff"), wants("gone"), wants("nobody")]);
  using home = teamHome(
    { "chief-of-staff": {}, gone: { status: "inactive" } },
    { script: entry("go", "chief-of-staff", calls) },
  );
  await using opened = await open(home);
  await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("last-tick");
  const before = home.tasks("chief-of-staff");
  await tell(opened.cortex, "go");
  expect(await resultsOf(opened.cortex, CHIEF)).toEqual([
    expect.stringContaining("Only people can give the coordinator tasks"),
    expect.stringContaining("Only people can give the coordinator tasks"),
    expect.stringContaining("inactive"),
    expect.stringContaining('Unknown team member "nobody"'),
  ]);
  expect(home.tasks("chief-of-staff")).toBe(before);
});

test("what no person has asked for is not dispatched", PATIENT, async () => {
  const calls = plays([["dispatch_task", { agent: "dev", title: "x" }]]);
  const hook = `export const filter = { channels: ["webhook"] };
    export default () => ({ fire: true, routing: { session: "${CHIEF}" } });`;
  using home = teamHome(
    { "chief-of-staff": {}, dev: { isForeign: true } },
    { script: entry("push", "chief-of-staff", calls), hooks: { "to-chief.ts": hook } },
  );
  await using opened = await open(home);
  const { cortex } = opened;
  await acceptOwn(cortex, {
    adapter: "webhook:git",
    sourceId: "1",
    channel: "webhook",
    content: "push",
    timestampMs: TEN_MS,
  });
  await expect.poll(() => cortex.store.sessions.head(CHIEF), PATIENT).toBeDefined();
  expect(await resultsOf(cortex, CHIEF)).toEqual([expect.stringContaining("Only a person can request this")]);
  expect(home.tasks("dev")).toBe("");
});

const FLAGS = entry("^Cortex tick:", "dev", plays([["flag_task", { reason: "no access" }]], "sorry"));
const ABOUT_FLAG = "^Cortex custom: a member of your team cannot continue";
const flagged = (title: string): string =>
  `## ${title}\n**Status:** in-progress\n**Started:** 2026-03-28T08:00\n\n### Progress\n- 2026-03-28T09:00 flagged: no access\n\n`;
const noticesIn = async ({ store }: Cortex): Promise<string[]> =>
  (await store.events.list({ limit: 100 })).items
    .filter(({ id }) => id.startsWith("team:flag:"))
    .map(({ content }) => content!);

test("the coordinator is told of a flag, once, and can do nothing about it by itself", PATIENT, async () => {
  const wants = plays(
    [
      ["dispatch_task", { agent: "dev", title: "x" }],
      ["flag_task", { reason: "x" }],
    ],
    "Give dev access.",
  );
  using home = teamHome(
    { "chief-of-staff": {}, dev: { tasks: ready("Read mail") } },
    {
      script: FLAGS + entry(ABOUT_FLAG, "chief-of-staff", wants),
      cortex: { timezone: "UTC", admin: { channel: "http", place: "desk" } },
    },
  );
  const clock = movable();
  const sent = async ({ store }: Cortex) => (await store.outbox.list()).items.map(({ content }) => content);
  {
    await using opened = await open(home, clock);
    const { cortex } = opened;
    await expect.poll(() => sent(cortex), PATIENT).toHaveLength(2);
    expect(await sent(cortex)).toContain("Give dev access.");
    expect(await resultsOf(cortex, CHIEF)).toEqual([
      expect.stringContaining("Only a person can request this"),
      expect.stringContaining("No task in progress"),
    ]);
    expect(await noticesIn(cortex)).toEqual([expect.stringContaining("**dev** · Read mail: no access")]);
  }
  clock.ms += 20 * MINUTE_MS;
  await using opened = await open(home, clock);
  await (await opened.cortex.team.open()).tick();
  expect(await noticesIn(opened.cortex)).toHaveLength(1);
  expect(home.tasks("dev").match(/^## /gm)).toHaveLength(1);
});

test("what the coordinator says to a flag is in the log where no place is named", PATIENT, async () => {
  using home = teamHome(
    { "chief-of-staff": {}, dev: { tasks: ready("Read mail") } },
    { script: FLAGS + entry(ABOUT_FLAG, "chief-of-staff", plays([], "Give dev access.")) },
  );
  await using opened = await open(home);
  await expect.poll(() => opened.count("Give dev access."), PATIENT).toBe(1);
});

test("flags that come together are not a turn each, and people are heard beside them", PATIENT, async () => {
  const hold = holdTool();
  const script =
    entry(ABOUT_FLAG, "chief-of-staff", plays([["Hold", {}]], "NO_REPLY")) +
    entry("let dev", "chief-of-staff", plays([["dispatch_task", { agent: "dev", title: "Add tests" }]]));
  const tasks = flagged("One") + flagged("Two") + flagged("Three");
  using home = teamHome({ "chief-of-staff": {}, dev: { isForeign: true, tasks } }, { script });
  const log: string[] = [];
  await using cortex = await home.open({
    clock: movable(),
    tools: [hold.tool],
    log: (line) => log.push(line),
  });
  await expect.poll(() => noticesIn(cortex), PATIENT).toHaveLength(3);
  hold.release();
  await tell(cortex, "let dev add tests");
  expect(hold.tool.calls.length).toBeLessThanOrEqual(2); // the first may have begun before the others were there
  expect(home.tasks("dev")).toContain("## Add tests");
  expect(log.join("\n")).not.toContain("NO_REPLY");
});

test("the coordinator works on what people put into its own file, with its tools", PATIENT, async () => {
  const calls = plays(
    [
      ["list_team", {}],
      ["team_status", { agent: "dev" }],
      ["briefing", {}],
      ["review", {}],
      ["housekeeping", {}],
    ],
    "seen",
  );
  using home = teamHome(
    {
      "chief-of-staff": { tasks: ready("Look at everybody") },
      dev: { isForeign: true, tasks: ready("Code") },
    },
    { script: entry("^Cortex custom:", "chief-of-staff", calls) },
  );
  await using opened = await open(home);
  await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("**Status:** done");
  expect(await resultsOf(opened.cortex, CHIEF)).toEqual([
    expect.stringContaining("**dev** (runs elsewhere)"),
    expect.stringContaining("## Code\n**Status:** ready"),
    expect.stringContaining("# Briefing"),
    expect.stringContaining("# Review"),
    "Nothing to prune.",
  ]);
});

test.each([
  ["the team directory", ""],
  ["a link to it", "link/"],
])(
  "the coordinator whose project is %s cannot open it, and reads it by its tools",
  PATIENT,
  async (_, link) => {
    using home = teamHome({ "chief-of-staff": { tasks: ready("Look") }, dev: { isForeign: true } });
    symlinkSync(home.team, join(home.path, "link"));
    mkdirSync(join(home.team, ".git"));
    writeFileSync(join(home.team, ".git/config"), "[core]\n");
    const note = home.note("chief-of-staff");
    const project = link === "" ? home.team : join(home.path, link);
    home.write(
      "agents/chief-of-staff/chief-of-staff.md",
      note.replace(/^project: .*/m, `project: ${project}`),
    );
    home.write("projects/site.md", "---\ntype: project\n---\n## Next Action\n- Launch it\n");
    const calls = plays([
      ["Write", { path: "plan.md", content: "My plan." }],
      ["Write", { path: join(home.team, ".git/config"), content: "[core]\n\tfsmonitor = touch pwned\n" }],
      ["Write", { path: join(project, ".git/config"), content: "x" }],
      ["Read", { path: join(home.team, "agents/dev/dev.md") }],
      ["Read", { path: join(home.team, "projects/site.md") }],
      ["team_status", { project: "site" }],
      ["team_status", { agent: "dev" }],
      ["team_status", { project: "nothing" }],
    ]);
    writeFileSync(join(home.path, "config", "script.yaml"), entry("^Cortex custom:", undefined, calls));
    await using opened = await open(home);
    await expect.poll(() => home.tasks("chief-of-staff"), PATIENT).toContain("**Status:** done");
    const closed = expect.stringContaining("outside this agent's folders");
    expect(await resultsOf(opened.cortex, CHIEF)).toEqual([
      expect.stringContaining("plan.md"),
      closed,
      closed,
      closed,
      closed,
      expect.stringContaining("- Launch it"),
      expect.stringContaining("### Role\nDo it."),
      expect.stringContaining('Unknown project "nothing"'),
    ]);
    expect(readFileSync(join(home.path, "workspaces/chief-of-staff/plan.md"), "utf8")).toBe("My plan.");
    expect(readFileSync(join(home.team, ".git/config"), "utf8")).toBe("[core]\n");
  },
);

test("a new member is registered with a person's yes", PATIENT, async () => {
  using home = teamHome({ "chief-of-staff": {} });
  const wish = { name: "Docs Writer", project: home.path, role: "Write docs." };
  writeFileSync(
    join(home.path, "config", "script.yaml"),
    entry("docs", "chief-of-staff", plays([["register_agent", wish]], "registered")),
  );
  await using opened = await open(home);
  const { cortex } = opened;
  const { item } = await cortex.send({ content: "we need docs", session: CHIEF });
  const asked = async () => (await cortex.store.approvals.list({ session: CHIEF, state: "open" })).items;
  await expect.poll(asked, PATIENT).toHaveLength(1);
  const [request] = await asked();
  await cortex.store.approvals.answer(request!.id, { kind: "approve", by: "owner" });
  expect(await answerTo(cortex, item)).toBe("registered");
  expect(home.note("docs-writer")).toContain("runtime: cortex");
});

test("somebody whom nobody runs is adopted with a person's yes", PATIENT, async () => {
  using home = teamHome(
    { "chief-of-staff": {}, dev: { isForeign: true } },
    { script: entry("take", "chief-of-staff", plays([["adopt_agent", { agent: "dev" }]], "adopted")) },
  );
  await using opened = await open(home);
  const { cortex } = opened;
  const { item } = await cortex.send({ content: "take dev over", session: CHIEF });
  const asked = async () => (await cortex.store.approvals.list({ session: CHIEF, state: "open" })).items;
  await expect.poll(asked, PATIENT).toHaveLength(1);
  const [request] = await asked();
  await cortex.store.approvals.answer(request!.id, { kind: "approve", by: "owner" });
  expect(await answerTo(cortex, item)).toBe("adopted");
  expect(home.note("dev")).toContain("runtime: cortex");
});

test("other agents do not have the tools of the team", PATIENT, async () => {
  using home = teamHome(
    { "chief-of-staff": {} },
    { script: entry("go", "main", plays([["list_team", {}]])) },
  );
  await using opened = await open(home);
  const { item } = await opened.cortex.send({ content: "go" });
  await answerTo(opened.cortex, item);
  expect(await resultsOf(opened.cortex)).toEqual([expect.not.stringContaining("chief-of-staff")]);
});

test("people ask for a team in a chat by !team", PATIENT, async () => {
  using home = teamHome({ "chief-of-staff": {}, dev: { isForeign: true } });
  await using opened = await open(home);
  const say = async (content: string): Promise<string> => {
    const said = await opened.cortex.say({ content });
    return said.kind === "command" ? said.reply : "a message";
  };
  expect(await say("!team dispatch dev: Add tests\nFor all.\n\nSoon.")).toContain(
    'dev has the task "Add tests"',
  );
  expect(home.tasks("dev")).toBe("## Add tests\n**Status:** ready\n\nFor all.\n\nSoon.\n");
  expect(await say("!team")).toContain("ready: Add tests");
  expect(await say("!team list")).toContain("**chief-of-staff**");
  expect(await say("!team tick")).toEqual(
    expect.stringContaining(
      "- **dev**: foreign (Cortex does not run this member: its note has no `runtime: cortex`",
    ),
  );
  expect(await say("!team adopt dev")).toContain("works on the tasks of dev");
  expect(home.note("dev")).toContain("runtime: cortex\n");
  expect(await say("!team briefing")).toContain("# Briefing");
  await expect(say("!team frobnicate")).rejects.toMatchObject({ code: "usage" });
  await expect(say("!team status nobody")).rejects.toMatchObject({ code: "member_unknown" });
});

test("without a team directory nothing runs, and whoever asks is told how to make one", PATIENT, async () => {
  using home = teamHome({});
  writeFileSync(join(home.path, "config.yaml"), `team_dir: ${join(home.path, "none")}\n`);
  await using opened = await open(home);
  await expect(opened.cortex.say({ content: "!team" })).rejects.toMatchObject({
    code: "team_missing",
    hint: expect.stringContaining("cortex team init"),
  });
  writeFileSync(join(home.path, "config.yaml"), `team_dir: ${home.team}\n`);
  expect((await (await opened.cortex.team.open()).status()).members).toEqual([]);
});
