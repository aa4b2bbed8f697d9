/** Teams as their owner meets them on the command line. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { start, startInTerminal } from "./support/cli.ts";
import { run, runJson, startServer } from "./support/here.ts";
import { writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { entry, plays } from "./support/workers.ts";

const LONG = { timeout: 240_000 };
const TEAM = "cortex-team";

/** The home is also the folder that `~` means. */
function newHome(script = "[]") {
  const home = temporaryFolder();
  const profiles = { profiles: { offline: { backend: "offline", script: "script.yaml" } } };
  writeHome(home.path, { cortex: { timezone: "UTC" }, profiles, script });
  mkdirSync(join(home.path, "workspaces", "billing"), { recursive: true });
  return home;
}

const read = (home: string, path: string): string => readFileSync(join(home, TEAM, path), "utf8");

function write(home: string, path: string, text: string): void {
  mkdirSync(dirname(join(home, TEAM, path)), { recursive: true });
  writeFileSync(join(home, TEAM, path), text);
}

async function team(home: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await run(home, ["team", ...args]);
  if (code !== 0) throw new Error(`cortex team ${args.join(" ")} ended with ${code}: ${err}`);
  return out;
}

async function newTeam(home: string): Promise<void> {
  await team(home, "init");
  await team(
    home,
    "register",
    "Billing",
    "Dev",
    "--project",
    join(home, "workspaces", "billing"),
    "--role",
    "Build it.",
  );
}

test(
  "a team is made, somebody joins and gets a task, and all of it is told without a server",
  LONG,
  async () => {
    using home = newHome();
    const missing = await run(home.path, ["team"]);
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("`cortex team init`") });

    const made = await team(home.path, "init");
    expect(made).toContain(`Wrote ${home.path}/${TEAM}/agents/chief-of-staff/chief-of-staff.md\n`);
    expect(made).toContain(`Wrote ${home.path}/config.yaml\n`);
    expect(await team(home.path, "init")).toContain(
      `Kept ${home.path}/${TEAM}/templates/agent-template.md\n`,
    );

    const project = join(home.path, "workspaces", "billing");
    const registered = await run(home.path, [
      "team",
      "register",
      "Billing Dev",
      "--project",
      project,
      "--role",
      "Build it.",
      "--projects",
      "billing, shop",
      "--capabilities",
      "Python,Stripe",
    ]);
    expect(registered.out).toContain(`Billing Dev is on the team as billing-dev and works in ${project}.\n`);
    expect(registered.out).toContain("New project note: projects/shop.md\n");
    const note = read(home.path, "agents/billing-dev/billing-dev.md");
    expect(note).toMatch(/^name: "?Billing Dev"?$/m);
    expect(note).toContain("runtime: cortex\n");
    expect(note).toContain("- billing\n- shop\n");
    expect(note).toContain("- Python\n- Stripe\n");
    expect(await run(home.path, ["team", "register", "billing dev", "--project", project])).toMatchObject({
      code: 1,
      err: expect.stringContaining("billing-dev"),
    });

    expect(await team(home.path, "dispatch", "Billing Dev", "Add a webhook", "Verify", "it")).toBe(
      'billing-dev has the task "Add a webhook", in agents/billing-dev/tasks.md.\n',
    );
    const input = "Line one\n\nLine two\n";
    const second = ["team", "dispatch", "billing-dev", "Add a webhook", "-", "--template", "pair", "--json"];
    expect(JSON.parse((await run(home.path, second, input)).out)).toEqual({
      agent: "billing-dev",
      title: "Add a webhook",
      ordinal: 2,
      file: "agents/billing-dev/tasks.md",
    });
    expect(read(home.path, "agents/billing-dev/tasks.md")).toBe(
      "## Add a webhook\n**Status:** ready\n\nVerify it\n\n" +
        "## Add a webhook\n**Status:** ready\n**Template:** pair\n\nLine one\n\nLine two\n",
    );

    expect(await team(home.path, "list")).toMatch(
      /^billing-dev +never started +2 ready, 0 in progress, 0 done +by cortex +Build it\.\nchief-of-staff +idle /,
    );
    expect(await team(home.path)).toMatch(/ · 2 members · 0 fresh · 2 ready · [^]*\n {2}- Add a webhook\n/);
    expect(await runJson(home.path, "team", "status", "Billing", "Dev")).toMatchObject({
      slug: "billing-dev",
      project: "~/workspaces/billing",
      isManaged: true,
      liveness: { state: "never-started", ageMs: null },
      tasks: [
        { ordinal: 1, body: "Verify it" },
        { ordinal: 2, template: "pair" },
      ],
    });
    expect(await runJson(home.path, "team", "list")).toMatchObject({
      items: [
        { slug: "billing-dev", counts: { ready: 2 } },
        { slug: "chief-of-staff", isCoordinator: true },
      ],
      next: null,
    });
    expect(await team(home.path, "briefing")).toContain("**Billing Dev** · 2 ready: Add a webhook");
    expect(await runJson(home.path, "team", "review")).toMatchObject({
      text: expect.stringContaining("# Review"),
      facts: { totals: { ready: 2 }, doneToday: [] },
    });
    expect(await run(home.path, ["team", "status", "nobody"])).toMatchObject({
      code: 1,
      err: expect.stringContaining('"nobody"'),
    });
  },
);

test("a server works on what was dispatched, and a tick makes it begin at once", LONG, async () => {
  using home = newHome(entry("^Cortex tick:", undefined, plays([], "The webhook is there.")));
  await newTeam(home.path);
  expect(await run(home.path, ["team", "tick"])).toMatchObject({
    code: 3,
    err: expect.stringContaining("cortex up"),
  });
  await using _ = await startServer(home.path);
  await team(home.path, "dispatch", "billing-dev", "Add a webhook");
  expect(await team(home.path, "tick", "Billing", "Dev")).toBe("billing-dev  working  Add a webhook\n");
  await expect
    .poll(() => read(home.path, "agents/billing-dev/tasks.md"), PATIENT)
    .toMatch(/\*\*Status:\*\* done[^]*### Summary\nThe webhook is there\.\n/);
  expect(await team(home.path, "tick", "Billing", "Dev")).toBe("billing-dev  idle  nothing to do\n");
  expect(await runJson(home.path, "team", "tick")).toMatchObject({
    members: [
      { agent: "billing-dev", state: "idle", task: null },
      { agent: "chief-of-staff", state: "reported" },
    ],
  });
  expect(await team(home.path, "review")).toContain("**Billing Dev** · Add a webhook: The webhook is there.");

  const elsewhere = join(home.path, "other");
  await team(home.path, "init", "--team-dir", elsewhere);
  await run(home.path, ["team", "init", "--team-dir", join(home.path, TEAM)]); // the one that is remembered
  expect(await run(home.path, ["team", "tick", "--team-dir", elsewhere])).toMatchObject({
    code: 1,
    err: expect.stringContaining(`The server works on the team in ${join(home.path, TEAM)}`),
  });
});

test("what is wrong with the files is told and repaired, and what was written is undone", LONG, async () => {
  using home = newHome();
  await newTeam(home.path);
  expect(await team(home.path, "lint")).toBe("No problems found.\n");
  expect(await team(home.path, "project", "billing", "--next", "Launch", "--note", "Python")).toBe(
    "Added to projects/billing.md\n",
  );
  expect(read(home.path, "projects/billing.md")).toMatch(
    /## Next Action\n- Launch\n[^]*## Notes\n- Python\n- Agent: billing-dev at ~\/workspaces\/billing\n/,
  );
  expect(await team(home.path, "lint")).toBe("No problems found.\n");

  const odd =
    "## A\n**Started:** 2026-03-28T10:15\n**Status:** in-progress\n\n## B\n**Status:** blocked\n\n" +
    "<!-- cortex:last-tick 2026-03-28T10:15 -->\n<!-- cortex:last-tick 2026-03-28T10:16 -->\n";
  write(home.path, "agents/billing-dev/tasks.md", odd);
  const linted = await run(home.path, ["team", "lint"]);
  expect(linted.code).toBe(1);
  expect(linted.out).toMatch(/^agents\/billing-dev\/tasks\.md:3 metadata-order: [^]*fixed by --fix/m);
  expect(linted.out).toMatch(/^agents\/billing-dev\/tasks\.md:6 status-unknown: invalid status "blocked"/m);
  const fixed = await run(home.path, ["team", "lint", "--fix", "--json"]);
  expect(fixed.code).toBe(1);
  expect(JSON.parse(fixed.out)).toMatchObject({
    fixed: ["agents/billing-dev/tasks.md"],
    findings: [{ rule: "status-unknown", file: "agents/billing-dev/tasks.md", isRepairable: false }],
  });
  const repaired = read(home.path, "agents/billing-dev/tasks.md");
  expect(repaired).toMatch(/^## A\n\*\*Status:\*\* in-progress\n\*\*Started:\*\* 2026-03-28T10:15\n/);

  const { items } = (await runJson(home.path, "team", "undo", "--list")) as { items: { file: string }[] };
  expect(items.slice(0, 1)).toMatchObject([
    { file: "agents/billing-dev/tasks.md", snapshot: expect.any(String) },
  ]);
  const path = join(home.path, TEAM, "agents/billing-dev/tasks.md"); // as a shell completes it
  expect(await team(home.path, "undo", path)).toMatch(/^Restored agents\/billing-dev\/tasks\.md as of /);
  expect(read(home.path, "agents/billing-dev/tasks.md")).toBe(odd);
  expect(await run(home.path, ["team", "undo", "../config.yaml"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("../config.yaml"),
  });
});

test("housekeeping tells what it took out", LONG, async () => {
  using home = newHome();
  await newTeam(home.path);
  const done = (title: string, completed: string): string =>
    `## ${title}\n**Status:** done\n**Started:** ${completed}\n**Completed:** ${completed}\n\n`;
  write(home.path, "agents/billing-dev/tasks.md", done("Old", "2026-01-02T10:00"));
  expect(await team(home.path, "housekeeping")).toContain(
    "Removed billing-dev: Old (done 2026-01-02T10:00)\n",
  );
  expect(read(home.path, "agents/billing-dev/tasks.md")).not.toContain("Old");
  expect(await runJson(home.path, "team", "housekeeping")).toMatchObject({ removed: [], isPostponed: false });
});

test("other programs are told how to take part, until they leave", LONG, async () => {
  using home = newHome();
  await newTeam(home.path);
  const written = await team(home.path, "adapter", "generic", "Billing", "Dev");
  expect(written).toBe(`billing-dev, in ${join(home.path, "workspaces", "billing")}\n  written .cortex.md\n`);
  expect(readFileSync(join(home.path, "workspaces", "billing", ".cortex.md"), "utf8")).toContain(
    "cortex:begin",
  );
  expect(await run(home.path, ["team", "adapter", "emacs", "billing-dev"])).toMatchObject({
    code: 1,
    err: expect.stringContaining('"emacs"'),
  });
  expect(await team(home.path, "leave", "billing-dev")).toContain("billing-dev has left the team.");
  expect(existsSync(join(home.path, "workspaces", "billing", ".cortex.md"))).toBe(false);
  expect(await run(home.path, ["team", "dispatch", "billing-dev", "x"])).toMatchObject({ code: 1 });
  expect(await runJson(home.path, "team", "leave", "billing-dev")).toMatchObject({ changed: false });
});

test("a team of the layout of before is taken over", LONG, async () => {
  using home = newHome();
  write(
    home.path,
    "agents/docs-dev.md",
    "---\nname: Docs Dev\nproject: ~/workspaces/billing\nstatus: active\n---\n",
  );
  expect(await team(home.path, "import")).toContain(
    "Member docs-dev: agents/docs-dev.md is now agents/docs-dev/docs-dev.md\n",
  );
  expect(await runJson(home.path, "team", "list")).toMatchObject({ items: [{ slug: "docs-dev" }] });
});

test("a flag comes before the environment's file, and each command takes it", LONG, async () => {
  using home = newHome();
  await team(home.path, "init", "--team-dir", join(home.path, "one"), "--daily-review", "off");
  expect(readFileSync(join(home.path, "config.yaml"), "utf8")).toMatch(/^team_dir: .*one/m);
  expect(await run(home.path, ["team", "list", "--team-dir", join(home.path, "two")])).toMatchObject({
    code: 1,
    err: expect.stringContaining(join(home.path, "two")),
  });
  expect(await runJson(home.path, "team", "--heartbeat-minutes", "30", "status")).toMatchObject({
    root: join(home.path, "one"),
  });
  expect(await run(home.path, ["team", "list", "--heartbeat-minutes", "soon"])).toMatchObject({
    code: 1,
    err: expect.stringContaining('"soon"'),
  });
  const settings = (await runJson(home.path, "config")) as { path: string; value: string }[];
  expect(settings).toContainEqual({
    path: "daily_review",
    value: "off",
    origin: expect.stringMatching(/^config.yaml:/),
  });

  const up = start(home.path, "up", "--port", "0", "--team-dir", join(home.path, "two"));
  await up.says("Ctrl-C stops it");
  const ticked = await run(home.path, ["team", "tick"]);
  expect(ticked).toMatchObject({ code: 1, err: expect.stringContaining(join(home.path, "two")) });
  up.child.kill("SIGTERM");
  await up.ended;
});

test("whatever is done, programs are told as JSON, and nothing else", LONG, async () => {
  using home = newHome();
  const project = join(home.path, "workspaces", "billing");
  for (const words of [
    ["init"],
    ["register", "Dev", "--project", project],
    ["register", "Claude", "--project", project, "--foreign"],
    ["project", "shop"],
    ["dispatch", "dev", "Do it"],
    ["status"],
    ["briefing"],
    ["housekeeping"],
    ["lint"],
    ["undo", "--list"],
    ["undo"],
    ["adapter", "cursor", "dev"],
    ["leave", "dev"],
    ["import"],
  ]) {
    const { code, out, err } = await run(home.path, ["team", ...words, "--json"]);
    expect({ words, code, err, lines: out.split("\n").length }).toEqual({
      words,
      code: 0,
      err: "",
      lines: 2,
    });
    expect(JSON.parse(out)).toEqual(expect.any(Object));
  }
});

test("a team is watched, line by line, by a program", LONG, async () => {
  using home = newHome();
  await newTeam(home.path);
  const watching = start(home.path, "team", "watch", "--json");
  await watching.says('"slug":"billing-dev"');
  await team(home.path, "dispatch", "billing-dev", "Add a webhook");
  await watching.says('"title":"Add a webhook"');
  watching.child.kill("SIGTERM");
  const { code, out } = await watching.ended;
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).members[0].counts.ready).at(-1)).toBe(1);
  expect(new Set(lines.map((line) => line.replace(/"at":"[^"]*"/, ""))).size).toBe(lines.length);
});

test("in a terminal, the team is drawn anew until q is pressed", LONG, async ({ skip }) => {
  using home = newHome();
  await newTeam(home.path);
  const watching = startInTerminal(home.path, "team", "watch");
  if (watching === undefined) return skip("neither script nor python3 is here to make a terminal");
  await watching.says("0 ready, 0 in progress");
  await team(home.path, "dispatch", "billing-dev", "Add a webhook");
  await watching.says("- Add a webhook");
  watching.type("q");
  expect(await watching.ended).toMatchObject({ code: 0, out: expect.stringContaining("\u001b[?1049l") });
});

test("in a terminal, a new team is asked for, and a wrong answer asked again", LONG, async ({ skip }) => {
  using home = newHome();
  const asking = startInTerminal(home.path, "team", "init");
  if (asking === undefined) return skip("neither script nor python3 is here to make a terminal");
  await asking.says("Which folder");
  asking.type(`${join(home.path, "ours")}\r`);
  await asking.says("[15]");
  asking.type("soon\r");
  await asking.says("minutes, got");
  await asking.says("[15]");
  asking.type("20\r");
  await asking.says("[09:00]");
  asking.type("\r");
  await asking.says("[18:00]");
  asking.type("\r");
  await asking.says("Now try:");
  expect((await asking.ended).code).toBe(0);
  expect(readFileSync(join(home.path, "config.yaml"), "utf8")).toMatch(/^heartbeat_minutes: "?20"?$/m);
  expect(existsSync(join(home.path, "ours", "agents", "chief-of-staff", "tasks.md"))).toBe(true);
  expect(existsSync(join(home.path, TEAM))).toBe(false);
});

test("whoever goes away while they are asked gets no team", LONG, async ({ skip }) => {
  using home = newHome();
  const asking = startInTerminal(home.path, "team", "init");
  if (asking === undefined) return skip("neither script nor python3 is here to make a terminal");
  await asking.says("Which folder");
  asking.type("\u0003");
  await asking.says("Nothing was created");
  expect((await asking.ended).code).toBe(1);
  expect(existsSync(join(home.path, "config.yaml"))).toBe(false);
});
