import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { FileEdit, TaskEdit } from "../markdown/edit.ts";
import { findTask, readTasks } from "../markdown/read-tasks.ts";
import { TeamFolder } from "./team-folder.ts";

const TASKS = "agents/dev/tasks.md";
const TWO = "## One\n**Status:** ready\n\nFirst.\n\n## Two\n**Status:** ready\n";

/** A team with one member, and a clock that the test moves. */
function testTeam(text = TWO) {
  const folder = temporaryFolder();
  const times = { nowMs: Date.now() };
  const said: string[] = [];
  const team = new TeamFolder({
    root: folder.path,
    clock: () => times.nowMs,
    log: (line) => said.push(line),
  });
  mkdirSync(join(folder.path, "agents/dev"), { recursive: true });
  const file = join(folder.path, TASKS);
  writeFileSync(file, text);
  return {
    team,
    times,
    said,
    file,
    root: folder.path,
    /** As an editor does that knows nothing of us. */
    save: (text: string, atMs = times.nowMs) => {
      writeFileSync(file, text);
      utimesSync(file, atMs / 1_000, atMs / 1_000);
    },
    text: () => readFileSync(file, "utf8"),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

function tasks(edit: TaskEdit): FileEdit {
  return { file: "tasks", edit };
}

const claim = (title: string) =>
  tasks({ kind: "claim", task: { title, ordinal: 1 }, stamp: "2026-03-28T10:15" });
const tick = (stamp: string) => tasks({ kind: "tick", stamp });

function statusOf(text: string, title: string): string | undefined {
  return findTask(readTasks(text), { title, ordinal: 1 })?.status;
}

test("an edit is written, and nothing is left beside the file", async () => {
  using team = testTeam();

  const { text, changed } = await team.team.edit(TASKS, claim("One"));

  expect(changed).toBe(true);
  expect(team.text()).toBe(text);
  expect(statusOf(text, "One")).toBe("in-progress");
  expect(readdirSync(join(team.root, "agents/dev"))).toEqual(["tasks.md"]);
});

test("what is done already is not written", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, claim("One"));
  const before = statSync(team.file, { bigint: true });

  expect(await team.team.edit(TASKS, claim("One"))).toMatchObject({ changed: false });
  expect(statSync(team.file, { bigint: true })).toMatchObject({ ino: before.ino, mtimeNs: before.mtimeNs });
});

test("many that claim at once get a task each", async () => {
  const titles = Array.from({ length: 20 }, (_, index) => `Task ${index}`);
  using team = testTeam(titles.map((title) => `## ${title}\n**Status:** ready\n`).join("\n"));
  const others = new TeamFolder({ root: team.root, clock: Date.now });

  const edits = await Promise.all(
    titles.map((_, index) =>
      (index % 2 === 0 ? team.team : others).editFrom(TASKS, (text) => {
        const next = readTasks(text).tasks.find(({ status }) => status === "ready");
        return next && claim(next.title);
      }),
    ),
  );

  const claimed = edits.map(({ edit }) => (edit?.edit.kind === "claim" ? edit.edit.task.title : undefined));
  expect(new Set(claimed)).toEqual(new Set(titles));
});

test("a file is as it was where the edit is refused", async () => {
  using team = testTeam();

  await expect(team.team.edit(TASKS, claim("Three"))).rejects.toMatchObject({ code: "task_unknown" });

  expect(team.text()).toBe(TWO);
  expect(readdirSync(join(team.root, "agents/dev"))).toEqual(["tasks.md"]);
});

test("the permissions of a file stay", async () => {
  using team = testTeam();
  chmodSync(team.file, 0o664);
  await team.team.edit(TASKS, claim("One"));
  expect(statSync(team.file).mode & 0o777).toBe(0o664);
});

test("a byte order mark, line ends and a missing last one stay as they were", async () => {
  using team = testTeam("\uFEFF## One\r\n**Status:** ready\r\n\r\nEnd");
  await team.team.edit(TASKS, claim("One"));
  expect(team.text()).toBe(
    "\uFEFF## One\r\n**Status:** in-progress\r\n**Started:** 2026-03-28T10:15\r\n\r\nEnd",
  );
});

test("a read-only file is not written", async () => {
  using team = testTeam();
  chmodSync(team.file, 0o444);
  await expect(team.team.edit(TASKS, claim("One"))).rejects.toMatchObject({
    code: "team_unwritable",
    message: `${TASKS} is read-only`,
  });
  expect(team.text()).toBe(TWO);
});

test("a file that vanishes between reading and writing is said to be gone, and not made anew", async () => {
  using team = testTeam();
  const edited = team.team.editFrom(TASKS, () => {
    rmSync(team.file, { force: true });
    return claim("One");
  });
  await expect(edited).rejects.toMatchObject({ code: "team_unwritable" });
  expect(readdirSync(join(team.root, "agents/dev"))).toEqual([]);
});

test("a file that is no text is not written", async () => {
  using team = testTeam();
  const bytes = Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x0a]);
  writeFileSync(team.file, bytes);
  await expect(team.team.edit(TASKS, tick("2026-03-28T10:15"))).rejects.toMatchObject({
    code: "team_unreadable",
    message: `${TASKS} cannot be read: it is not UTF-8`,
  });
  expect(readFileSync(team.file)).toEqual(bytes);
});

test("a folder in the place of a file is no file", async () => {
  using team = testTeam();
  await expect(team.team.read("agents/dev")).rejects.toMatchObject({ code: "team_unreadable" });
});

test("a file is made once", async () => {
  using team = testTeam();
  expect(await team.team.create("projects/billing.md", "First.\n")).toBe(true);
  expect(await team.team.create("projects/billing.md", "Second.\n")).toBe(false);
  expect(await team.team.read("projects/billing.md")).toBe("First.\n");
  expect(await team.team.read("projects/none.md")).toBeUndefined();
});

test("a team directory that is not there is said to be missing", async () => {
  using folder = temporaryFolder();
  const team = new TeamFolder({ root: join(folder.path, "none"), clock: Date.now });
  await expect(team.read(TASKS)).rejects.toMatchObject({ code: "team_missing" });
});

test("a link inside the team leads to its file, and stays a link", async () => {
  using team = testTeam();
  symlinkSync("dev", join(team.root, "agents/alias"));
  symlinkSync("tasks.md", join(team.root, "agents/dev/todo.md"));

  await team.team.edit("agents/alias/tasks.md", claim("One"));
  await team.team.edit("agents/dev/todo.md", claim("Two"));

  expect(statusOf(team.text(), "One")).toBe("in-progress");
  expect(statusOf(team.text(), "Two")).toBe("in-progress");
  expect(lstatSync(join(team.root, "agents/dev/todo.md")).isSymbolicLink()).toBe(true);
});

test("snapshots are not written through a link", async () => {
  using team = testTeam();
  using outside = temporaryFolder();
  symlinkSync(outside.path, join(team.root, ".cortex"));
  await expect(team.team.edit(TASKS, claim("One"))).rejects.toMatchObject({ code: "path_forbidden" });
  expect([team.text(), readdirSync(outside.path)]).toEqual([TWO, []]);
});

test("the journal is not written through a link, and the edit is made all the same", async () => {
  using team = testTeam();
  using outside = temporaryFolder();
  const victim = join(outside.path, "victim");
  writeFileSync(victim, "mine\n");
  mkdirSync(join(team.root, ".cortex/journal/agents/dev"), { recursive: true });
  symlinkSync(victim, join(team.root, ".cortex/journal", `${TASKS}.jsonl`));

  await team.team.edit(TASKS, claim("One"));

  expect(readFileSync(victim, "utf8")).toBe("mine\n");
  expect(statusOf(team.text(), "One")).toBe("in-progress");
  expect(team.said).toEqual([expect.stringContaining(`the journal of ${TASKS} cannot be written`)]);
});

test.each(["in place", "as a new file"])(
  "what an editor writes %s between our reading and writing stays",
  async (how) => {
    using team = testTeam();
    let calls = 0;
    const { edit } = await team.team.editFrom(TASKS, (text) => {
      if (calls++ === 0) {
        const theirs = `A person's line.\n${text}`;
        if (how === "in place") writeFileSync(team.file, theirs);
        else {
          writeFileSync(`${team.file}~`, theirs);
          renameSync(`${team.file}~`, team.file);
        }
      }
      return claim("One");
    });

    expect(edit).toEqual(claim("One"));
    expect(calls).toBe(2);
    expect(team.text()).toContain("A person's line.\n");
    expect(statusOf(team.text(), "One")).toBe("in-progress");
  },
);

test("what an editor writes to a file that was replaced under its hands comes back into the file", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, tick("2026-03-28T10:15"));
  const theirs = `A person's line.\n${team.text()}`;
  const descriptor = openSync(team.file, "r+");

  await team.team.edit(TASKS, claim("One"));
  writeSync(descriptor, theirs, 0); // to the file that is a snapshot by now
  closeSync(descriptor);
  expect(team.text()).not.toContain("A person's line.");

  expect(await team.team.reconcile(TASKS)).toEqual([claim("One")]);
  expect(team.text()).toContain("A person's line.");
  expect(statusOf(team.text(), "One")).toBe("in-progress");
});

test("a file that is empty for a moment is waited for", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, tick("2026-03-28T10:15"));
  const theirs = `A person's line.\n${team.text()}`;
  writeFileSync(team.file, "");
  const edited = team.team.edit(TASKS, claim("One"));
  setImmediate(() => writeFileSync(team.file, theirs));

  await edited;
  expect(team.text()).toContain("A person's line.");
  expect(statusOf(team.text(), "One")).toBe("in-progress");
});

test("a file that somebody emptied for good is taken as it is", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, tick("2026-03-28T10:15"));
  team.times.nowMs += 3_600_000;
  team.save("");
  await team.team.edit(TASKS, tick("2026-03-28T11:15"));
  expect(readTasks(team.text())).toMatchObject({ tasks: [], tick: { stamp: "2026-03-28T11:15" } });
});

test("what an editor with an old text overwrites is done again", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, claim("One"));
  team.times.nowMs += 60_000;
  team.save(`A person's line.\n${TWO}`);

  expect(await team.team.reconcile(TASKS)).toEqual([claim("One")]);
  expect(team.text()).toContain("A person's line.");
  expect(statusOf(team.text(), "One")).toBe("in-progress");
  expect(team.said).toEqual([`team: claim in ${TASKS} was overwritten, and done again`]);
});

test.each([
  ["at once", 0],
  ["after three seconds", 3_000],
  ["after ten minutes", 600_000],
])(
  "a task that a person deletes %s stays deleted, and a copy is kept beside the file",
  async (_, laterMs) => {
    using team = testTeam("");
    await team.team.edit(TASKS, tasks({ kind: "add", title: "One" }));
    const one = team.text();
    await team.team.edit(TASKS, tasks({ kind: "add", title: "Two", body: "Second." }));
    team.times.nowMs += laterMs;
    team.save(one);

    expect(await team.team.reconcile(TASKS)).toEqual([]);
    expect(team.text()).toBe(one);
    const aside = join(team.root, "agents/dev/tasks.removed.md");
    expect(readTasks(readFileSync(aside, "utf8")).tasks).toMatchObject([
      { title: "Two", statusText: "removed", body: "Second." },
    ]);
    expect(team.said).toEqual([expect.stringContaining(`"Two" vanished from ${TASKS}`)]);

    rmSync(aside);
    team.save(`${one}\nMore.\n`);
    await team.team.reconcile(TASKS);
    await team.team.edit(TASKS, tick("2026-03-28T11:15"));
    expect(existsSync(aside)).toBe(false);
    expect(team.text()).not.toContain("Two");
  },
);

test("a task that a person takes out among newer ones is not kept", async () => {
  using team = testTeam("");
  await team.team.edit(TASKS, tasks({ kind: "add", title: "One" }));
  await team.team.edit(TASKS, tasks({ kind: "add", title: "Two" }));
  team.times.nowMs += 3_000;
  team.save("## Two\n**Status:** ready\n");
  await team.team.reconcile(TASKS);
  expect(team.text()).toBe("## Two\n**Status:** ready\n");
  expect(existsSync(join(team.root, "agents/dev/tasks.removed.md"))).toBe(false);
});

test("nobody gets a task whose claim was overwritten", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, claim("One"));
  team.save(TWO);
  const { edit } = await team.team.editFrom(TASKS, (text) => {
    const next = readTasks(text).tasks.find(({ status }) => status === "ready");
    return next && claim(next.title);
  });
  expect(edit).toEqual(claim("Two"));
});

test("a person who takes it back twice means it", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, claim("One"));
  team.times.nowMs += 60_000;
  team.save(TWO);
  await team.team.reconcile(TASKS);
  team.times.nowMs += 60_000;
  team.save(TWO);

  expect(await team.team.reconcile(TASKS)).toEqual([]);
  expect(team.text()).toBe(TWO);
});

test("a journal that is cut off or not ours is read as far as it goes", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, claim("One"));
  const journal = join(team.root, ".cortex/journal", `${TASKS}.jsonl`);
  writeFileSync(journal, `no json\n[1]\n${readFileSync(journal, "utf8")}{"atMs":1,"ha`);

  await team.team.edit(TASKS, claim("Two"));
  team.save(TWO);
  expect(await team.team.reconcile(TASKS)).toEqual([claim("One"), claim("Two")]);
});

test("a write is undone, and before it the one before", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, claim("One"));
  const one = team.text();
  team.times.nowMs += 1_000;
  await team.team.edit(TASKS, claim("Two"));
  const both = team.text();

  team.times.nowMs += 1_000;
  expect(await team.team.undo()).toMatchObject({ path: TASKS, text: one, changed: true });
  expect(await team.team.reconcile(TASKS)).toEqual([]);
  expect(team.text()).toBe(one);
  expect(await team.team.undo(TASKS)).toMatchObject({ text: TWO });
  await expect(team.team.undo(TASKS)).rejects.toMatchObject({ code: "state_conflict" });
  expect(team.text()).toBe(TWO);
  const kept = team.team.history(TASKS).map(({ file }) => readFileSync(file, "utf8"));
  expect(kept).toEqual([TWO, one, both, one]);
});

test("without a name, the writes of all files are undone, the last one first", async () => {
  using team = testTeam();
  const note = "agents/dev/dev.md";
  const unreadable = "agents/dev/odd.md";
  await team.team.create(note, "");
  await team.team.create(unreadable, "");
  const change = async (path: string, added: string): Promise<void> => {
    team.times.nowMs += 1_000;
    await team.team.rewrite(path, (text) => text + added);
  };
  await change(TASKS, "a\n");
  await change(note, "b\n");
  await change(TASKS, "c\n");
  await change(unreadable, "d\n");
  writeFileSync(join(team.root, unreadable), Buffer.from([0xff]));

  const undone: string[] = [];
  for (let i = 0; i < 3; i++) undone.push((await team.team.undo()).path);

  expect(undone).toEqual([TASKS, note, TASKS]);
  expect([team.text(), await team.team.read(note)]).toEqual([TWO, ""]);
  await expect(team.team.undo()).rejects.toMatchObject({ code: "state_conflict" });
});

test("a file that somebody removed is put back by undo", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, claim("One"));
  rmSync(team.file);
  await team.team.undo(TASKS);
  expect(team.text()).toBe(TWO);
});

test("where nothing was written there is nothing to undo", async () => {
  using team = testTeam();
  await expect(team.team.undo()).rejects.toMatchObject({ code: "state_conflict" });
  expect(team.team.history()).toEqual([]);
});

test("version control sees nothing of what is kept", async () => {
  using team = testTeam();
  await team.team.edit(TASKS, claim("One"));
  expect(readFileSync(join(team.root, ".cortex/.gitignore"), "utf8")).toBe("*\n");
});
