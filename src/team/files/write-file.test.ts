import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { isEditDone } from "../markdown/apply-edit.ts";
import type { FileEdit } from "../markdown/edit.ts";
import { MAX_TEAM_FILE_LINES } from "./file-state.ts";
import { TeamFolder } from "./team-folder.ts";

const TASKS = "agents/dev/tasks.md";
const TEXT = "## One\n**Status:** ready\n\nFirst.\n";
const CLAIM: FileEdit = {
  file: "tasks",
  edit: { kind: "claim", task: { title: "One", ordinal: 1 }, stamp: "2026-03-28T10:15" },
};
const TICK: FileEdit = { file: "tasks", edit: { kind: "tick", stamp: "2026-03-28T10:15" } };

const support = (name: string) => fileURLToPath(new URL(`../../../test/support/${name}`, import.meta.url));
const CHILD = support("team-edit-child.ts");
const KILLER = new URL("../../../test/support/die-before-write.ts", import.meta.url).href;

function makeTeam(root: string): TeamFolder {
  mkdirSync(join(root, "agents/dev"), { recursive: true });
  writeFileSync(join(root, TASKS), TEXT);
  return new TeamFolder({ root, clock: Date.now });
}

const isKillOrEnd = (signal: unknown) => signal === null || signal === "SIGKILL";

/** Whether it came to its end. */
function editUntilKilled(root: string, edit: FileEdit, writes: number): boolean {
  const args = ["--import", KILLER, CHILD, root, TASKS, JSON.stringify(edit)];
  const env = { ...process.env, DIE_BEFORE_WRITE: String(writes) };
  const { signal, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  expect({ signal, stderr }).toEqual({ signal: expect.toSatisfy(isKillOrEnd), stderr: "" });
  return signal !== "SIGKILL";
}

test("a file with more lines than are read is neither read nor made", async () => {
  using folder = temporaryFolder();
  const team = makeTeam(folder.path);
  const lines = TEXT + "\n".repeat(MAX_TEAM_FILE_LINES - TEXT.split("\n").length);
  writeFileSync(join(folder.path, TASKS), lines);
  expect(await team.read(TASKS)).toBe(lines);
  await expect(team.edit(TASKS, TICK)).rejects.toMatchObject({
    code: "team_unwritable",
    message: expect.stringContaining(`more than ${MAX_TEAM_FILE_LINES} lines`),
  });
  expect(readFileSync(join(folder.path, TASKS), "utf8")).toBe(lines);
  writeFileSync(join(folder.path, TASKS), `${lines}\n`);
  await expect(team.read(TASKS)).rejects.toMatchObject({ code: "team_unreadable" });
});

test.each([
  ["alone", false],
  ["beside an editor that is at work", true],
])(
  "whoever is killed at any moment of a write, %s, leaves the old text or the new one, and nothing in the way",
  { timeout: 240_000 },
  async (_, isBesideOthers) => {
    let writes = 0;
    for (let isAtEnd = false; !isAtEnd;) {
      using folder = temporaryFolder();
      const team = makeTeam(folder.path);
      if (isBesideOthers) {
        await team.edit(TASKS, TICK);
        writeFileSync(join(folder.path, TASKS), `A person's line.\n${await team.read(TASKS)}`);
      }
      const before = (await team.read(TASKS))!;

      isAtEnd = editUntilKilled(folder.path, CLAIM, ++writes);

      const after = (await team.read(TASKS))!;
      expect(after === before || isEditDone(after, CLAIM)).toBe(true);
      await team.edit(TASKS, CLAIM);
      const text = readFileSync(join(folder.path, TASKS), "utf8");
      expect(isEditDone(text, CLAIM)).toBe(true);
      expect(text.includes("A person's line.")).toBe(isBesideOthers);
      await team.edit(TASKS, { ...TICK, edit: { kind: "tick", stamp: "2026-03-28T10:30" } });
      expect(readdirSync(join(folder.path, "agents/dev"))).toEqual(["tasks.md"]);
      expect(existsSync(join(folder.path, ".cortex/.gitignore"))).toBe(true);
    }
    expect(writes).toBeGreaterThan(8);
  },
);

test("of processes that claim the same task at once, one gets it", async () => {
  using folder = temporaryFolder();
  makeTeam(folder.path);
  const claims = Array.from({ length: 4 }, (_, index) => ({
    ...CLAIM,
    edit: { ...CLAIM.edit, stamp: `2026-03-28T10:1${index}` },
  }));

  const answers = await Promise.all(
    claims.map(async (claim) => {
      const args = [CHILD, folder.path, TASKS, JSON.stringify(claim)];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      return JSON.parse(await textOf(child.stdout)) as { changed?: boolean; code?: string };
    }),
  );

  expect(answers.filter(({ changed }) => changed === true)).toHaveLength(1);
  expect(answers.filter(({ code }) => code === "state_conflict")).toHaveLength(3);
  const text = readFileSync(join(folder.path, TASKS), "utf8");
  expect(text.match(/Started/g)).toHaveLength(1);
});

test("a folder that is not to be written is left as it is, and the error says what to do", () => {
  using folder = temporaryFolder();
  makeTeam(folder.path);
  for (const path of ["", "agents", "agents/dev"]) chmodSync(join(folder.path, path), 0o555);
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}; // root may write everywhere
  const args = [CHILD, folder.path, TASKS, JSON.stringify(CLAIM)];
  const env = { ...process.env, NODE_COMPILE_CACHE: "" };
  const { stdout } = spawnSync(process.execPath, args, { ...nobody, env, encoding: "utf8" });
  for (const path of ["", "agents", "agents/dev"]) chmodSync(join(folder.path, path), 0o755);

  expect(JSON.parse(stdout)).toMatchObject({ code: "team_unwritable", transient: false });
  expect(readFileSync(join(folder.path, TASKS), "utf8")).toBe(TEXT);
  expect(readdirSync(folder.path)).toEqual(["agents"]);
});

test.runIf(process.getuid?.() === 0)("a file of somebody else is not taken away from them", () => {
  using folder = temporaryFolder();
  makeTeam(folder.path);
  for (const path of ["", "agents", "agents/dev"]) chmodSync(join(folder.path, path), 0o777);
  const args = [CHILD, folder.path, TASKS, JSON.stringify(CLAIM)];
  const env = { ...process.env, NODE_COMPILE_CACHE: "" };
  const { stdout } = spawnSync(process.execPath, args, { uid: 65_534, gid: 65_534, env, encoding: "utf8" });

  expect(JSON.parse(stdout)).toMatchObject({ code: "team_unwritable", message: `${TASKS} is read-only` });
  expect(readFileSync(join(folder.path, TASKS), "utf8")).toBe(TEXT);
  expect(readdirSync(join(folder.path, "agents/dev"))).toEqual(["tasks.md"]);
});

test.runIf(canMountSmallDisk())("a full disk loses nothing, and is written again when there is room", () => {
  using folder = temporaryFolder();
  const mount = 'mount -t tmpfs -o size=512k tmpfs "$1" && exec "$2" "$3" "$1"';
  const args = ["-m", "sh", "-c", mount, "sh", folder.path, process.execPath, support("full-team-disk.ts")];
  const { stdout, stderr, status } = spawnSync("unshare", args, { encoding: "utf8" });
  expect(stdout + stderr).toContain("after room was made: ok");
  expect(status).toBe(0);
});

function canMountSmallDisk(): boolean {
  using folder = temporaryFolder();
  const mount = ["-m", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.path];
  return process.platform === "linux" && spawnSync("unshare", mount).status === 0;
}
