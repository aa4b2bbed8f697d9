import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { FolderSize, measureFolder } from "./folder-size.ts";
import { Quotas } from "./quotas.ts";

const MB = 1024 ** 2;
const QUOTA = { workspaceMb: 2, homeMb: 4, warnAt: 0.5 };

function folder(): string {
  const made = temporaryFolder();
  onTestFinished(() => made[Symbol.dispose]());
  return made.path;
}

function fill(path: string, megabytes: number): void {
  writeFileSync(path, Buffer.alloc(megabytes * MB, 1));
}

function open(home: string): { quotas: Quotas; workspace: string; lines: string[] } {
  const workspace = join(home, "workspaces", "main");
  mkdirSync(workspace, { recursive: true });
  mkdirSync(join(home, "tmp", "output"), { recursive: true });
  const lines: string[] = [];
  const quotas = new Quotas({
    home,
    config: () => ({ quota: QUOTA, agents: { main: { workspace } } }),
    log: (line) => lines.push(line),
    pace: { rest: 0, maxWaitMs: 60_000 },
  });
  return { quotas, workspace, lines };
}

test("a workspace is warned of once, refused when it is full, and open again when there is room", async () => {
  const { quotas, workspace, lines } = open(folder());
  await quotas.check(workspace);
  expect(lines).toEqual([]);

  fill(join(workspace, "a"), 1);
  await quotas.check(workspace);
  await quotas.check(workspace);
  expect(lines).toEqual([
    `The workspace ${workspace} is almost full: 1 of 2 MB used. ` +
      "Delete unneeded files there, or raise `quota.workspaceMb` in cortex.json.",
  ]);

  fill(join(workspace, "b"), 2);
  await expect(quotas.check(workspace)).rejects.toMatchObject({
    code: "quota_exceeded",
    message: `The workspace ${workspace} is full: 3 of 2 MB used`,
    hint: "Delete unneeded files there, or raise `quota.workspaceMb` in cortex.json.",
  });
  expect(await quotas.exceeded(workspace)).toBe(
    `Command killed. The workspace ${workspace} is full: 3 of 2 MB used. ` +
      "Delete unneeded files there, or raise `quota.workspaceMb` in cortex.json.",
  );
  expect(lines).toHaveLength(2);

  rmSync(join(workspace, "b"));
  await quotas.check(workspace);
});

test("the home counts what is not in a workspace, long outputs included", async () => {
  const home = folder();
  const { quotas, workspace, lines } = open(home);
  fill(join(workspace, "a"), 1);
  fill(join(home, "tmp", "output", "long.txt"), 3);
  await quotas.check(workspace);
  expect(lines).toContainEqual(
    `The home of Cortex ${home} is almost full: 3 of 4 MB used. ` +
      "Remove old records with `cortex prune`, or raise `quota.homeMb` in cortex.json.",
  );
  expect(await quotas.uses()).toMatchObject([
    { kind: "home", path: home, limitBytes: 4 * MB, state: "low" },
    { kind: "workspace", path: workspace, limitBytes: 2 * MB, state: "low" },
  ]);
  fill(join(home, "more"), 1);
  await expect(quotas.check(workspace)).rejects.toMatchObject({
    message: `The home of Cortex ${home} is full: 4 of 4 MB used`,
    hint: expect.stringContaining("cortex prune"),
  });
});

test("the size of a folder is what it takes on the disk", async () => {
  const at = folder();
  const outside = folder();
  fill(join(outside, "large"), 3);
  mkdirSync(join(at, "inner", "deep"), { recursive: true });
  fill(join(at, "inner", "deep", "a"), 1);
  symlinkSync(outside, join(at, "link"));
  writeFileSync(join(at, "sparse"), "");
  truncateSync(join(at, "sparse"), 1024 * MB);
  mkdirSync(join(at, "apart"));
  fill(join(at, "apart", "b"), 1);

  const bytes = await measureFolder(at, [join(at, "apart")]);
  expect(bytes / MB).toBeGreaterThan(1);
  expect(bytes / MB).toBeLessThan(1.1);
  expect(await measureFolder(join(at, "none"))).toBe(0);
});

test("empty files count, and a walk is bounded", async () => {
  const at = folder();
  writeFileSync(join(at, "0"), "");
  for (let i = 1; i < 100; i++) linkSync(join(at, "0"), join(at, String(i)));
  const all = await measureFolder(at);
  expect(all).toBeGreaterThanOrEqual(100 * 256);
  expect(await measureFolder(at, [], 10)).toBe(all / 10);
});

test("a folder is walked in the background, and rests after each walk", async () => {
  const at = folder();
  const size = new FolderSize(at, { rest: 1e9, maxWaitMs: 60_000 });
  expect(await size.bytes()).toBe(0);
  fill(join(at, "a"), 1);
  expect(await size.bytes()).toBe(0);
});
