/** A team at work, through all of Cortex: real files, real turns, and a model that plays what the test says. */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { DONE, testTool } from "../../test/support/home.ts";
import { PATIENT } from "../../test/support/server.ts";
import { SMALL_RELAYS, SMALL_SCRIPT } from "../../test/support/small-relays.ts";
import { type TeamHome, teamHome } from "../../test/support/team-home.ts";
import { answerTo, entry, holdTool, meetTool, plays, resultsOf } from "../../test/support/workers.ts";
import { MINUTE_MS } from "../model/durations.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import type { ToolContext } from "../model/tool.ts";
import type { Cortex } from "../runtime/cortex.ts";

/** Ten in the morning, in UTC. */
const TEN_MS = Date.UTC(2026, 2, 28, 10);

const ready = (title: string, body = "Do it."): string => `## ${title}\n**Status:** ready\n\n${body}\n\n`;
const inProgress = (title: string): string =>
  `## ${title}\n**Status:** in-progress\n**Started:** 2026-03-28T08:00\n\nDo it.\n\n`;
const works = (say = "done it"): string => entry("^Cortex tick:", undefined, plays([], say));
const BILLING = normalizeSessionKey("agent:billing-dev:main");

/** A clock that the test moves. */
function movable(ms = TEN_MS): (() => number) & { ms: number } {
  const clock: (() => number) & { ms: number } = Object.assign(() => clock.ms, { ms });
  return clock;
}

async function tick(cortex: Cortex, agent?: string) {
  const { members } = await (await cortex.team.open()).tick(agent);
  return members.map(({ agent: slug, state }) => `${slug} ${state}`);
}

const statuses = (home: TeamHome, slug: string): string[] =>
  [...home.tasks(slug).matchAll(/^\*\*Status:\*\* (.*)$/gm)].map(([, status]) => status!);

async function turnsOf({ store }: Cortex, session = BILLING): Promise<number> {
  const { items } = await store.events.list({ limit: 1_000 });
  return items.filter(({ id, sender }) => id.startsWith("team:") && session.includes(sender ?? "")).length;
}

describe("a worker", () => {
  test("claims, works on, summarises and reports a task that was dispatched", PATIENT, async () => {
    using home = teamHome({ "billing-dev": {} }, { script: works("Implemented POST /webhooks/stripe.") });
    await using cortex = await home.open({ clock: movable() });
    await (
      await cortex.team.open()
    ).dispatch({
      agent: "Billing-Dev",
      title: "Add Stripe webhook endpoint",
      body: "Verify signature.",
    });
    expect(await tick(cortex, "billing-dev")).toEqual(["billing-dev working"]);
    await expect.poll(() => home.tasks("billing-dev"), PATIENT).toBe(`## Add Stripe webhook endpoint
**Status:** done
**Started:** 2026-03-28T10:00
**Completed:** 2026-03-28T10:00

Verify signature.

### Summary
Implemented POST /webhooks/stripe.

<!-- cortex:last-tick 2026-03-28T10:00 -->
`);
    await expect
      .poll(() => home.note("billing-dev"), PATIENT)
      .toContain("Last session: 2026-03-28\nStatus: active — done: Add Stripe webhook endpoint");
  });

  test(
    "takes tasks in the order of the file, one after the other, also those of the same title",
    PATIENT,
    async () => {
      const script = entry("(?s)^Cortex tick:.*BODY (\\w+)", undefined, plays([], "did $1"));
      using home = teamHome(
        {
          "billing-dev": {
            tasks: ready("Same", "BODY one") + ready("Same", "BODY two") + ready("Last", "BODY three"),
          },
        },
        { script },
      );
      await using cortex = await home.open({ clock: movable() });
      await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done", "done", "done"]);
      expect(home.tasks("billing-dev")).toMatch(
        /BODY one[^#]*### Summary\ndid one[^]*BODY two[^#]*### Summary\ndid two/,
      );
      expect(await turnsOf(cortex)).toBe(3);
    },
  );

  test("continues what is in progress before it takes something new, and is told so", PATIENT, async () => {
    using home = teamHome(
      { "billing-dev": { tasks: ready("New") + inProgress("Old") } },
      { script: works() },
    );
    await using cortex = await home.open({ clock: movable() });
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done", "done"]);
    const { items } = await cortex.store.events.list({ limit: 100 });
    const asked = items.filter(({ id }) => id.startsWith("team:")).toReversed();
    expect(asked.map(({ content }) => /--- Task ---\n## (.*)/.exec(content!)![1])).toEqual(["Old", "New"]);
    expect(asked[0]!.content).toContain("was started before");
    expect(home.tasks("billing-dev")).toContain("**Started:** 2026-03-28T08:00");
  });

  test("is told its note, its project notes and the task, and works in its project", PATIENT, async () => {
    const seen: ToolContext[] = [];
    const look = testTool("Look", async (_, context) => {
      seen.push(context);
      return DONE;
    });
    using home = teamHome(
      { "billing-dev": { tasks: ready("Look around", "All of it.") } },
      { script: entry("^Cortex tick:", "billing-dev", plays([["Look", {}]], "seen")) },
    );
    home.write(
      "agents/billing-dev/billing-dev.md",
      home
        .note("billing-dev")
        .replace("## Session Log", "## Projects\n- billing — primary\n\n## Session Log"),
    );
    home.write("projects/billing.md", "---\ntype: project\n---\n## Next Action\n- Implement webhooks\n");
    await using cortex = await home.open({ clock: movable(), tools: [look] });
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done"]);
    const { items } = await cortex.store.events.list({ limit: 100 });
    const { content } = items.find(({ id }) => id.startsWith("team:"))!;
    expect(content).toMatch(/^Cortex tick: /);
    for (const part of [
      "## Role\nDo it.",
      "Implement webhooks",
      "## Look around",
      "All of it.",
      "resumption",
    ])
      expect(content).toContain(part);
    expect(seen[0]).toMatchObject({
      session: BILLING,
      workspace: join(home.path, "workspaces", "projects", "billing-dev"),
    });
    expect(seen[0]!.hidden).toContain(home.team);
  });

  test("has no tools to write to members, to give itself tasks, or to coordinate", PATIENT, async () => {
    const hold = holdTool();
    using home = teamHome(
      { "billing-dev": { tasks: ready("Look") } },
      { script: entry("^Cortex tick:", undefined, plays([["Hold", {}]])) },
    );
    await using cortex = await home.open({ clock: movable(), tools: [hold.tool] });
    await expect.poll(() => hold.tool.calls.length, PATIENT).toBe(1);
    const { run } = (await cortex.store.sessions.get(BILLING))!;
    const { tools } = (await cortex.store.runs.readJournal(run!)).pinned as { tools: string[] };
    hold.release();
    expect(tools).toEqual(expect.arrayContaining(["Read", "Bash", "flag_task"]));
    for (const other of [
      "dispatch_task",
      "list_team",
      "dispatch_to_agent",
      "send_message_to_agent",
      "message",
      "relay_start",
    ])
      expect(tools).not.toContain(other);
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done"]);
  });

  test("is the same member to a person who writes to it, and has no task to flag then", PATIENT, async () => {
    const calls = plays([
      ["flag_task", { reason: "x" }],
      ["dispatch_task", { agent: "other", title: "x" }],
      ["message", { text: "x" }],
    ]);
    const others = { "chief-of-staff": {}, other: { isForeign: true } };
    using home = teamHome(
      { "billing-dev": { tasks: ready("Work") }, ...others },
      { script: works() + entry("hello", "billing-dev", calls) },
    );
    await using cortex = await home.open({ clock: movable() });
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done"]);
    const before = home.tasks("billing-dev");
    await answerTo(cortex, (await cortex.send({ content: "hello", session: BILLING })).item);
    expect(await resultsOf(cortex, BILLING)).toEqual([
      expect.stringContaining("No task in progress"),
      expect.stringContaining('Unknown tool "dispatch_task"'),
      expect.stringContaining('Unknown tool "message"'),
    ]);
    expect(home.tasks("billing-dev") + home.tasks("other")).toBe(before);
  });

  test("with nothing to do makes no turn and writes nothing", PATIENT, async () => {
    const done = "## Old\n**Status:** done\n\nprose\n";
    using home = teamHome({ "billing-dev": { tasks: done } }, { script: works() });
    const folder = join(home.team, "agents", "billing-dev");
    const filesNow = () =>
      readdirSync(folder).map((name) => {
        const { ino, mtimeNs } = statSync(join(folder, name), { bigint: true });
        return { name, ino, mtimeNs };
      });
    const before = filesNow();
    const clock = movable();
    await using cortex = await home.open({ clock });
    for (let beat = 0; beat < 3; beat++) {
      expect(await tick(cortex, "billing-dev")).toEqual(["billing-dev idle"]);
      clock.ms += 15 * MINUTE_MS;
    }
    expect(filesNow()).toEqual(before);
    expect(await turnsOf(cortex)).toBe(0);
  });

  test("that cannot do a task flags it, and goes on with the next one", PATIENT, async () => {
    const flags = plays([["flag_task", { reason: "no access to the mailbox" }]], "sorry");
    using home = teamHome(
      { "billing-dev": { tasks: ready("Read mail") + ready("Write code") }, "chief-of-staff": {} },
      { script: entry("## Read mail", undefined, flags) + works() },
    );
    const log: string[] = [];
    await using cortex = await home.open({ clock: movable(), log: (line) => log.push(line) });
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["in-progress", "done"]);
    expect(home.tasks("billing-dev")).toContain("- 2026-03-28T10:00 flagged: no access to the mailbox");
    await expect.poll(() => log.join("\n"), PATIENT).toContain("Read mail: no access to the mailbox");
    expect(home.note("billing-dev")).toContain("Status: blocked — Read mail: no access to the mailbox");
    expect(await tick(cortex, "billing-dev")).toEqual(["billing-dev waiting"]);

    home.write(
      "agents/billing-dev/tasks.md",
      home.tasks("billing-dev").replace("Do it.", "You have access now."),
    );
    writeFileSync(join(home.path, "config", "script.yaml"), works());
    expect(await tick(cortex, "billing-dev")).toEqual(["billing-dev working"]);
  });

  test(
    "whose turn fails tries again at the next tick, and flags the task after three failures",
    PATIENT,
    async () => {
      using home = teamHome(
        { "billing-dev": { tasks: ready("Break") } },
        {
          script: `- { when: "^Cortex tick:", plays: [{ fault: refused }] }\n`,
          cortex: { timezone: "UTC", broker: { retryMs: 0, maxAttempts: 1 } },
        },
      );
      const clock = movable();
      await using cortex = await home.open({ clock });
      for (const attempt of [1, 2, 3]) {
        if (attempt > 1) await tick(cortex, "billing-dev");
        await expect.poll(() => home.tasks("billing-dev"), PATIENT).toContain(`attempt ${attempt} failed`);
      }
      await expect.poll(() => home.tasks("billing-dev"), PATIENT).toContain("flagged: failed 3 times");
      expect(statuses(home, "billing-dev")).toEqual(["in-progress"]);
      await expect.poll(() => tick(cortex, "billing-dev"), PATIENT).toEqual(["billing-dev waiting"]);
      expect(await turnsOf(cortex)).toBe(3);
      expect((await cortex.store.dead.list()).items).toEqual([]);
    },
  );

  test("whose project is not there has its task flagged, and no turn", PATIENT, async () => {
    using home = teamHome({ "billing-dev": { project: "/nowhere/at/all", tasks: ready("Work") } });
    await using cortex = await home.open({ clock: movable() });
    await expect
      .poll(() => home.tasks("billing-dev"), PATIENT)
      .toContain("flagged: the project /nowhere/at/all does not exist");
    expect(await turnsOf(cortex)).toBe(0);
  });

  test(
    "does not take the session of the owner, also where its note was written by hand",
    PATIENT,
    async () => {
      using home = teamHome({ main: { tasks: ready("Work") } }, { script: works() });
      await using cortex = await home.open({ clock: movable() });
      await expect
        .poll(() => home.tasks("main"), PATIENT)
        .toContain("flagged: agent:main:main is the owner's");
      expect(await cortex.store.sessions.get(normalizeSessionKey("agent:main:main"))).toBeUndefined();
    },
  );

  test("leaves alone what another session of its own is at work on", PATIENT, async () => {
    const tasks = `${inProgress("Theirs")}${ready("Ours")}<!-- cortex:last-tick 2026-03-28T09:55 -->\n`;
    using home = teamHome({ "billing-dev": { tasks } }, { script: works() });
    await using cortex = await home.open({ clock: movable() });
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["in-progress", "done"]);
    expect(await turnsOf(cortex)).toBe(1);
  });

  test("ticks at every heartbeat, also while a long turn runs", PATIENT, async () => {
    const hold = holdTool();
    using home = teamHome(
      { "billing-dev": { tasks: ready("Long") } },
      { script: entry("^Cortex tick:", undefined, plays([["Hold", {}]], "over")) },
    );
    const clock = movable();
    await using cortex = await home.open({ clock, tools: [hold.tool] });
    await expect.poll(() => hold.tool.calls.length, PATIENT).toBe(1);
    await expect.poll(() => home.tasks("billing-dev"), PATIENT).toContain("last-tick 2026-03-28T10:00");
    clock.ms += 15 * MINUTE_MS;
    cortex.team.lookAgain();
    await expect.poll(() => home.tasks("billing-dev"), PATIENT).toContain("last-tick 2026-03-28T10:15");
    expect(hold.tool.calls).toHaveLength(1);
    hold.release();
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done"]);
  });

  test("works beside the others", PATIENT, async () => {
    const script = entry("^Cortex tick:", undefined, plays([["Meet", {}]], "met"));
    using home = teamHome({ a: { tasks: ready("Meet b") }, b: { tasks: ready("Meet a") } }, { script });
    await using cortex = await home.open({ clock: movable(), tools: [meetTool(2)] });
    await expect
      .poll(() => [...statuses(home, "a"), ...statuses(home, "b")], PATIENT)
      .toEqual(["done", "done"]);
    expect(await cortex.store.team.list(home.team)).toHaveLength(2);
  });

  test("runs a task with a template as a relay", PATIENT, async () => {
    const tasks = "## a letter\n**Status:** ready\n**Template:** pair\n";
    using home = teamHome({ "billing-dev": { tasks } }, { relays: SMALL_RELAYS, script: SMALL_SCRIPT });
    await using cortex = await home.open({ clock: movable() });
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done"]);
    expect(home.tasks("billing-dev")).toContain("written: a letter");
    expect((await cortex.relays.list()).items).toMatchObject([{ templateName: "pair", status: "completed" }]);
  });

  test("goes on with a relay whatever becomes of its task and its template meanwhile", PATIENT, async () => {
    const hold = holdTool();
    const script = entry("WRITE", undefined, plays([["Hold", {}]], "I wrote it")) + SMALL_SCRIPT;
    using home = teamHome(
      { "billing-dev": { tasks: "## a letter\n**Status:** ready\n**Template:** pair\n" } },
      { relays: SMALL_RELAYS, script, cortex: { timezone: "UTC", broker: { shutdownMs: 0 } } },
    );
    const clock = movable();
    {
      await using cortex = await home.open({ clock, tools: [hold.tool] });
      await expect.poll(() => hold.tool.calls.length, PATIENT).toBe(1);
      home.write("agents/billing-dev/tasks.md", `${home.tasks("billing-dev").trimEnd()}\n\nTo grandma.\n`);
      clock.ms += 15 * MINUTE_MS;
      expect(await tick(cortex, "billing-dev")).toEqual(["billing-dev working"]);
    }
    writeFileSync(join(home.path, "config", "thread-templates.json"), "{}");
    clock.ms += 15 * MINUTE_MS;
    hold.release();
    await using cortex = await home.open({ clock, tools: [hold.tool] });
    await tick(cortex, "billing-dev");
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done"]);
    expect(home.tasks("billing-dev")).not.toMatch(/flagged|failed/);
    expect((await cortex.relays.list()).items).toMatchObject([{ status: "completed" }]);
  });

  test("tries a relay that has failed again, and says why it failed", PATIENT, async () => {
    const tasks = "## give up\n**Status:** ready\n**Template:** pair\n";
    using home = teamHome({ "billing-dev": { tasks } }, { relays: SMALL_RELAYS, script: SMALL_SCRIPT });
    await using cortex = await home.open({ clock: movable() });
    for (const attempt of [1, 2, 3]) {
      if (attempt > 1) await tick(cortex, "billing-dev");
      await expect
        .poll(() => home.tasks("billing-dev"), PATIENT)
        .toMatch(new RegExp(`attempt ${attempt} failed: .*no ink`));
    }
    await expect.poll(() => home.tasks("billing-dev"), PATIENT).toMatch(/flagged: failed 3 times.*no ink/);
    expect((await cortex.relays.list()).items).toHaveLength(3);
  });

  test("flags a task whose template nobody knows", PATIENT, async () => {
    const tasks = "## a letter\n**Status:** ready\n**Template:** nope\n";
    using home = teamHome({ "billing-dev": { tasks } }, { script: works() });
    await using cortex = await home.open({ clock: movable() });
    await expect.poll(() => home.tasks("billing-dev"), PATIENT).toMatch(/flagged: .*nope/);
    expect(await turnsOf(cortex)).toBe(0);
  });

  test("only reports on what another runner does, until that is complete", PATIENT, async () => {
    const tasks = "## Execute Shuttle tasks — report status\n**Status:** ready\n";
    using home = teamHome({ "billing-dev": { tasks } }, { script: works() });
    const shuttle = join(home.path, "workspaces", "projects", "billing-dev", ".shuttle.md");
    await using cortex = await home.open({ clock: movable() });
    await expect
      .poll(() => home.tasks("billing-dev"), PATIENT)
      .toMatch(/flagged: .*\.shuttle\.md is missing/);
    writeFileSync(shuttle, "## A\n**Status:** done\n\n## B\n**Status:** in-progress\n");
    expect(await tick(cortex, "billing-dev")).toEqual(["billing-dev waiting"]);
    expect(home.tasks("billing-dev")).toContain("Progress: 1 of 2 done");
    writeFileSync(shuttle, "## A\n**Status:** done\n\n## B\n**Status:** done\n");
    await tick(cortex, "billing-dev");
    expect(statuses(home, "billing-dev")).toEqual(["done"]);
    expect(home.tasks("billing-dev")).toContain("2 of 2 done");
    expect(await turnsOf(cortex)).toBe(0);
  });

  test(
    "does its other tasks while one waits for another runner, whose list has checkboxes",
    PATIENT,
    async () => {
      const tasks = `## Their list\n**Status:** ready\n**External:** todo.md\n\n${ready("Ours")}`;
      using home = teamHome({ "billing-dev": { tasks } }, { script: works() });
      const todo = join(home.path, "workspaces", "projects", "billing-dev", "todo.md");
      writeFileSync(todo, "- [x] One\n- [!] Two\n");
      const clock = movable();
      await using cortex = await home.open({ clock });
      await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["in-progress", "done"]);
      expect(home.tasks("billing-dev")).toContain("Progress: 1 of 2 done, 1 blocked");
      writeFileSync(todo, Buffer.from([0xff, 0xfe]));
      const [member] = (await (await cortex.team.open()).status()).members;
      expect(member!.notices).toEqual([
        expect.stringMatching(/^"Their list" is waiting: cannot read .*todo\.md/),
      ]);
      writeFileSync(todo, "- [x] One\n- [x] Two\n");
      clock.ms += 15 * MINUTE_MS;
      await tick(cortex, "billing-dev");
      expect(statuses(home, "billing-dev")).toEqual(["done", "done"]);
      expect(await turnsOf(cortex)).toBe(1);
    },
  );

  test("does not get back a task that a person deleted, and people are told of it", PATIENT, async () => {
    using home = teamHome({ theirs: { isForeign: true } });
    await using cortex = await home.open();
    await (await cortex.team.open()).dispatch({ agent: "theirs", title: "Keep", body: "It." });
    const kept = home.tasks("theirs");
    await (await cortex.team.open()).dispatch({ agent: "theirs", title: "Delete me" });
    home.write("agents/theirs/tasks.md", kept);
    const notices = async () => (await (await cortex.team.open()).status()).members[0]!.notices.join("\n");
    await expect
      .poll(notices, PATIENT)
      .toContain('Removed from tasks.md, and no longer worked on: "Delete me"');
    expect(home.tasks("theirs")).toBe(kept);
    expect((await (await cortex.team.open()).status()).problems).toMatchObject([{ rule: "task-removed" }]);
  });

  test("that is inactive or run by others gets no ticks", PATIENT, async () => {
    using home = teamHome(
      {
        gone: { status: "inactive", tasks: ready("Never") },
        theirs: { isForeign: true, tasks: ready("Not ours") },
      },
      { script: works() },
    );
    await using cortex = await home.open({ clock: movable() });
    expect(await tick(cortex)).toEqual(["gone inactive", "theirs foreign"]);
    expect(home.tasks("gone") + home.tasks("theirs")).not.toContain("tick");
    await expect((await cortex.team.open()).dispatch({ agent: "gone", title: "x" })).rejects.toMatchObject({
      code: "state_conflict",
    });
    await expect((await cortex.team.open()).dispatch({ agent: "nobody", title: "x" })).rejects.toMatchObject({
      code: "member_unknown",
    });
  });

  test(
    "is looked at again a heartbeat after the last time, whatever restarts there were",
    PATIENT,
    async () => {
      const hold = holdTool();
      using home = teamHome(
        { "billing-dev": { tasks: ready("Long") } },
        {
          script: entry("^Cortex tick:", undefined, plays([["Hold", {}]], "over")),
          cortex: { timezone: "UTC", broker: { shutdownMs: 0 } },
        },
      );
      const clock = movable();
      const ticked = (): string | undefined => /last-tick \S+T(\S+) /.exec(home.tasks("billing-dev"))?.[1];
      {
        await using _ = await home.open({ clock, tools: [hold.tool] });
        await expect.poll(ticked, PATIENT).toBe("10:00");
      }
      clock.ms += 10 * MINUTE_MS;
      await using cortex = await home.open({ clock, tools: [hold.tool] });
      expect(ticked()).toBe("10:00");
      clock.ms += 50 * MINUTE_MS;
      cortex.team.lookAgain();
      await expect.poll(ticked, PATIENT).toBe("11:00");
      hold.release();
      await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done"]);
    },
  );

  test("works for one Cortex at a time, and for the next one when that has gone", PATIENT, async () => {
    const hold = holdTool();
    const script = entry("^Cortex tick:", undefined, plays([["Hold", {}]], "over"));
    using home = teamHome(
      { "billing-dev": { tasks: ready("Long") + ready("Other") } },
      { script, cortex: { timezone: "UTC", broker: { shutdownMs: 0 } } },
    );
    using second = teamHome({}, { script: works(), settings: "" });
    writeFileSync(
      join(second.path, "config.yaml"),
      `team_dir: ${home.team}
`,
    );
    const clock = movable();
    const first = await home.open({ clock, tools: [hold.tool] });
    await expect.poll(() => hold.tool.calls.length, PATIENT).toBe(1);
    await using cortex = await second.open({ clock });
    expect((await (await cortex.team.open()).status()).members).toHaveLength(1);
    await expect((await cortex.team.open()).tick()).rejects.toMatchObject({ code: "state_conflict" });
    hold.release();
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done", "done"]);
    await first.stop();
    await (await cortex.team.open()).dispatch({ agent: "billing-dev", title: "For the next" });
    expect(await tick(cortex)).toEqual(["billing-dev working"]);
    await expect.poll(() => statuses(home, "billing-dev"), PATIENT).toEqual(["done", "done", "done"]);
    expect(await turnsOf(cortex)).toBe(1);
  });

  test(
    "takes nothing new once another Cortex has taken over, and ends what it is at work on",
    PATIENT,
    async () => {
      const [hold, later] = [holdTool(), holdTool()];
      const script = entry("^Cortex tick:", undefined, plays([["Hold", {}]], "over"));
      using home = teamHome({ dev: { tasks: ready("Long") + ready("Other") + ready("Third") } }, { script });
      using second = teamHome({}, { script });
      writeFileSync(join(second.path, "config.yaml"), `team_dir: ${home.team}\n`);
      // The clock of the first is behind: however often it looks, it does not renew what the second finds too old.
      const [behind, clock] = [movable(), movable()];
      const first = await home.open({ clock: behind, tools: [hold.tool] });
      await expect.poll(() => hold.tool.calls.length, PATIENT).toBe(1);
      behind.ms += 1.5 * MINUTE_MS;
      clock.ms += 6 * MINUTE_MS;
      await using _ = await second.open({ clock, tools: [later.tool] });
      await expect.poll(() => later.tool.calls.length, PATIENT).toBe(1);
      behind.ms += 1.5 * MINUTE_MS;
      expect(statuses(home, "dev")).toEqual(["in-progress", "in-progress", "ready"]);
      hold.release();
      await expect.poll(() => statuses(home, "dev"), PATIENT).toEqual(["done", "in-progress", "ready"]);
      await first.stop();
      expect(statuses(home, "dev")).toEqual(["done", "in-progress", "ready"]);
      later.release();
      await expect.poll(() => statuses(home, "dev"), PATIENT).toEqual(["done", "done", "done"]);
    },
  );
});
