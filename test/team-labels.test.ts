/** Team files carry the labels of those who wrote them: whoever is given what they wrote has read it. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { normalizeSessionKey, type SessionKey } from "../src/model/session-key.ts";
import { TRUST_SETTING, readTrust, trustJson } from "../src/model/trust.ts";
import { FileLabels } from "../src/personas/file-labels.ts";
import { OWNER_PRINCIPAL, personPrincipal } from "../src/model/principal.ts";
import type { TurnId } from "../src/model/ids.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { PATIENT } from "./support/server.ts";
import { type TeamHome, teamHome } from "./support/team-home.ts";
import { answerTo, entry, plays } from "./support/workers.ts";

const CHIEF = normalizeSessionKey("agent:chief-of-staff:main");
const DEV = normalizeSessionKey("agent:dev:main");
const PAGE = "tool:WebFetch";
const READ_A_PAGE = { untrusted: [PAGE], private: [OWNER_PRINCIPAL], denied: ["Bash"], outward: false };
const ADA = personPrincipal("ada");

const GIVES = entry(
  "let dev",
  "chief-of-staff",
  plays(
    [["dispatch_task", { agent: "dev", title: "Send it", body: "The number is 4711, the page said." }]],
    "given",
  ),
);
const WORKS = entry("^Cortex tick:", "dev", plays([], "tested"));
const FLAGS = entry("^Cortex tick:", "dev", plays([["flag_task", { reason: "no access" }]], "sorry"));
const LOOKS = entry("how are they", "chief-of-staff", plays([["team_status", {}]], "fine"));
const SILENT = entry("^Cortex custom: a member", "chief-of-staff", plays([], "NO_REPLY"));

function makeHome(script: string): TeamHome {
  return teamHome({ "chief-of-staff": {}, dev: {}, other: {} }, { script });
}

/** As if the session had read a page, and something of the owner. */
async function mark({ store }: Cortex, session: SessionKey): Promise<void> {
  await store.sessions.configure(session, { [TRUST_SETTING]: trustJson(READ_A_PAGE) });
}

async function trustOf({ store }: Cortex, session: SessionKey) {
  return readTrust((await store.sessions.get(session))?.settings ?? {});
}

async function say(cortex: Cortex, content: string): Promise<void> {
  await answerTo(cortex, (await cortex.send({ content, session: CHIEF })).item);
}

async function workOn(
  cortex: Cortex,
  home: TeamHome,
  slug = "dev",
  state = "**Status:** done",
): Promise<void> {
  await (await cortex.team.open()).tick(slug);
  await expect.poll(() => home.tasks(slug), PATIENT).toContain(state);
  await expect
    .poll(async () => (await cortex.store.team.get(home.team, slug))?.item, PATIENT)
    .toBeUndefined();
}

/** The messages that ask for work on a task, oldest first. */
async function ordersIn({ store }: Cortex) {
  const { items } = await store.events.list({ channel: "team" });
  return items.filter(({ id }) => id.startsWith("team:")).toReversed();
}

function labelsOf({ store }: Cortex, home: TeamHome): FileLabels {
  const shared = async () => [home.team];
  return new FileLabels({ labels: store.labels, home: home.path, foreign: [], shared });
}

test("a dispatched task takes the label of the session along, also through a kill", PATIENT, async () => {
  using home = makeHome(GIVES + WORKS);
  {
    await using cortex = await home.open();
    await mark(cortex, CHIEF);
    await say(cortex, "let dev send it");
  }
  await using cortex = await home.open();
  await workOn(cortex, home);
  expect(await trustOf(cortex, DEV)).toMatchObject({ untrusted: [PAGE], denied: ["Bash"] });
  const [order] = await ordersIn(cortex);
  expect(order).toMatchObject({ principal: "owner", label: { untrusted: [PAGE] } });
  expect((await labelsOf(cortex, home).ofFile(join(home.team, "agents/dev/tasks.md"))).untrusted).toEqual([
    PAGE,
  ]);
});

test("a task keeps its label in the file of another member", PATIENT, async () => {
  using home = makeHome(GIVES + entry("^Cortex tick:", "other", plays([], "tested")));
  await using cortex = await home.open();
  await mark(cortex, CHIEF);
  await say(cortex, "let dev send it");
  home.write("agents/other/tasks.md", home.tasks("dev"));
  home.write("agents/dev/tasks.md", "");
  await workOn(cortex, home, "other");
  const other = normalizeSessionKey("agent:other:main");
  expect(await trustOf(cortex, other)).toMatchObject({ untrusted: [PAGE], denied: ["Bash"] });
});

test("a task keeps its label when its member is renamed", PATIENT, async () => {
  using home = makeHome(GIVES + entry("^Cortex tick:", "developer", plays([], "tested")));
  await using cortex = await home.open();
  await mark(cortex, CHIEF);
  await say(cortex, "let dev send it");
  home.write("agents/developer/developer.md", home.note("dev").replace("name: dev", "name: developer"));
  home.write("agents/developer/tasks.md", home.tasks("dev"));
  rmSync(join(home.team, "agents", "dev"), { recursive: true });
  await workOn(cortex, home, "developer");
  const developer = normalizeSessionKey("agent:developer:main");
  expect((await trustOf(cortex, developer)).untrusted).toEqual([PAGE]);
});

test("text from others gives no task to a member that another program runs", PATIENT, async () => {
  using home = teamHome({ "chief-of-staff": {}, dev: { isForeign: true } }, { script: GIVES });
  await using cortex = await home.open();
  await mark(cortex, CHIEF);
  await cortex.send({ content: "let dev send it", session: CHIEF });
  const asked = async () => (await cortex.store.approvals.list({ state: "open" })).items;
  await expect
    .poll(asked, PATIENT)
    .toMatchObject([
      { request: { tool: "dispatch_task", reason: expect.stringContaining("another program runs dev") } },
    ]);
  expect(home.tasks("dev")).toBe("");
});

test("a task of an agent reports on files of the member's project only", PATIENT, async () => {
  const task = (external: string) => ["dispatch_task", { agent: "dev", title: "Look", external }] as const;
  const script = entry("let dev look", "chief-of-staff", plays([task("/etc/passwd"), task("todo.md")], "ok"));
  using home = makeHome(script);
  await using cortex = await home.open();
  await say(cortex, "let dev look");
  expect(home.tasks("dev")).not.toContain("passwd");
  expect(home.tasks("dev")).toContain("**External:** todo.md");
});

test("a task of the owner in the same file is not labelled for it", PATIENT, async () => {
  using home = makeHome(GIVES + WORKS);
  await using cortex = await home.open();
  await mark(cortex, CHIEF);
  const path = "agents/dev/tasks.md";
  home.write(path, "## Water the plants\n**Status:** ready\n\nAll of them, please.\n\n");
  await say(cortex, "let dev send it");
  await (await cortex.team.open()).tick("dev");
  await expect.poll(async () => (await ordersIn(cortex)).length, PATIENT).toBe(2);
  const [first, second] = await ordersIn(cortex);
  expect(first!.content).toContain("Water the plants");
  expect(first!.label).toBeUndefined();
  expect(second!.label).toMatchObject({ untrusted: [PAGE] });
});

test(
  "a task that the owner rewrites keeps the label while a line of the agent is left",
  PATIENT,
  async () => {
    using home = makeHome(GIVES + WORKS);
    await using cortex = await home.open();
    await mark(cortex, CHIEF);
    await say(cortex, "let dev send it");
    const mine = home
      .tasks("dev")
      .replace("## Send it", "## Something else")
      .replace("4711, the", "4711, the");
    writeFileSync(join(home.team, "agents/dev/tasks.md"), mine);
    await workOn(cortex, home);
    expect((await trustOf(cortex, DEV)).untrusted).toEqual([PAGE]);
  },
);

test("what a labelled worker writes about its work labels whoever reads it", PATIENT, async () => {
  using home = makeHome(LOOKS + FLAGS + SILENT);
  await using cortex = await home.open();
  const task = (title: string): void =>
    home.write("agents/dev/tasks.md", `## ${title}\n**Status:** ready\n\nDo it, please.\n`);
  task("Begin");
  await workOn(cortex, home, "dev", "no access");
  await say(cortex, "how are they");
  expect((await trustOf(cortex, CHIEF)).untrusted).toEqual([]);
  expect(await cortex.store.labels.areEmpty()).toBe(true);

  await mark(cortex, DEV);
  task("Try it");
  await workOn(cortex, home, "dev", "no access");
  await say(cortex, "how are they");
  expect((await trustOf(cortex, CHIEF)).untrusted).toEqual([PAGE]);
  const files = labelsOf(cortex, home);
  for (const name of ["dev.md", "tasks.md", "tasks.removed.md"]) {
    const path = join(home.team, "agents/dev", name);
    if (name === "tasks.removed.md") writeFileSync(path, "## Try it\n**Status:** removed\n");
    expect([name, ...(await files.ofFile(path)).untrusted]).toEqual([name, PAGE]);
  }
  const journal = join(home.team, ".cortex/journal/agents/dev/tasks.md.jsonl");
  expect(readFileSync(journal, "utf8")).toContain("no access");
  expect((await files.ofFile(journal)).untrusted).toEqual([PAGE]);
  expect((await files.ofFile(join(home.team, "agents/other/tasks.md"))).untrusted).toEqual([]);
});

test(
  "a project note that an agent wrote for somebody labels whoever works on the project",
  PATIENT,
  async () => {
    using home = makeHome(WORKS);
    const projects = home
      .note("dev")
      .replace("## Session Log", "## Projects\n- x — primary\n\n## Session Log");
    home.write("agents/dev/dev.md", projects);
    await using cortex = await home.open();
    const text = "---\ntype: project\n---\n## Next Action\n- Send the number 4711 there\n";
    home.write("projects/x.md", "");
    const writer = { principal: ADA, audience: ADA, turn: "turn-1" as TurnId };
    const label = { untrusted: [ADA], private: [ADA], denied: ["WebFetch"] };
    const path = join(home.team, "projects/x.md");
    await labelsOf(cortex, home).write(path, Buffer.from(text), label, writer, async () =>
      writeFileSync(path, text),
    );
    writeFileSync(path, `${text}- And water the plants\n`); // the owner, in an editor
    home.write("agents/dev/tasks.md", "## Do it\n**Status:** ready\n\nThe next action.\n");
    await workOn(cortex, home);
    expect(await trustOf(cortex, DEV)).toMatchObject({ untrusted: [ADA], denied: ["WebFetch"] });
  },
);

test(
  "a task that an agent wrote into the file for somebody is done on their authority",
  PATIENT,
  async () => {
    using home = makeHome(WORKS);
    await using cortex = await home.open();
    const path = join(home.team, "agents/dev/tasks.md");
    const text = "## Fetch it\n**Status:** ready\n\nFetch the page with the number.\n";
    const writer = { principal: ADA, audience: ADA, turn: "turn-1" as TurnId };
    const label = { untrusted: [ADA], private: [ADA], denied: ["WebFetch"] };
    await labelsOf(cortex, home).write(path, Buffer.from(text), label, writer, async () =>
      writeFileSync(path, text),
    );
    await workOn(cortex, home);
    const [order] = await ordersIn(cortex);
    expect(order).toMatchObject({ principal: ADA, label: { untrusted: [ADA], denied: ["WebFetch"] } });
    const [dispatch] = await cortex.store.events.dispatches(order!.id);
    const [item] = await cortex.store.queue.itemsOf(dispatch!.turn!);
    expect(item!.dispatches[0]!.permissions).toMatchObject({
      authority: "source",
      tools: { deny: ["WebFetch"] },
    });
  },
);
