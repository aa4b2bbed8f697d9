/**
 * Six processes of ours and an editor that ignores locks write the same task files, one file after the other. In the end,
 * all that was acknowledged to ours is in the files, no task was claimed twice, and each line of the editor is in a
 * file or in a snapshot of it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

import { isEditDone } from "../../src/team/apply-edit.ts";
import type { FileEdit } from "../../src/team/edit.ts";
import { TeamFolder } from "../../src/team/team-folder.ts";
import { temporaryFolder } from "../support/temporary.ts";

const WRITERS = 6;
/** Of each writer in each file: it stays small enough that all its snapshots are kept. */
const EDITS_IN_A_FILE = 80;
/** A server looks at what the system says of the folder; here it just looks. */
const LOOK_MS = 300;

interface Acknowledged {
  readonly path: string;
  readonly edit: FileEdit;
}

export interface StressFigures {
  readonly edits: number;
  readonly restored: number;
  readonly lost: number;
  readonly claimedTwice: number;
  readonly foreignEdits: number;
  readonly foreignInFile: number;
  readonly foreignInSnapshot: number;
  readonly foreignLost: number;
  readonly problems: readonly string[];
}

export async function stressTeam({ edits, seed }: { edits: number; seed: number }): Promise<StressFigures> {
  using folder = temporaryFolder();
  const root = folder.path;
  const each = Math.ceil(edits / WRITERS);
  const paths = makeFiles(root, Math.ceil(each / EDITS_IN_A_FILE));
  const log: string[] = [];
  const team = new TeamFolder({ root, clock: Date.now, log: (line) => log.push(line) });

  const editor = start("editor.ts", [root, String(seed)]);
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    start("writer.ts", [
      root,
      `w${index}`,
      String(each),
      String(EDITS_IN_A_FILE),
      String(seed * 100 + index),
    ]),
  );
  const looking = new AbortController();
  const looked = look(team, paths, looking.signal);
  const acknowledged = (await Promise.all(writers.map(linesOf<Acknowledged>))).flat();
  editor.kill("SIGTERM");
  const foreign = (await linesOf<{ line: string }>(editor)).map(({ line }) => line);
  looking.abort();
  await looked;
  for (const path of paths) await team.reconcile(path);

  return judge(team, { paths, acknowledged, foreign });
}

function makeFiles(root: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const path = `agents/member-${index}/tasks.md`;
    mkdirSync(join(root, `agents/member-${index}`), { recursive: true });
    writeFileSync(join(root, path), "");
    return path;
  });
}

function start(script: string, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function linesOf<Line>(child: ChildProcess): Promise<Line[]> {
  const [said, [code]] = await Promise.all([textOf(child.stdout!), once(child, "exit")]);
  if (code !== 0) throw new Error(`${child.spawnargs[1]} ended with ${code}`);
  return said
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

async function look(team: TeamFolder, paths: readonly string[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const path of paths) await team.reconcile(path);
    await pause(LOOK_MS, undefined, { signal }).catch(() => {}); // it is over
  }
}

function judge(
  team: TeamFolder,
  {
    paths,
    acknowledged,
    foreign,
  }: { paths: readonly string[]; acknowledged: readonly Acknowledged[]; foreign: readonly string[] },
): StressFigures {
  const texts = new Map(paths.map((path) => [path, readFileSync(join(team.root, path), "utf8")]));
  const isKept = ({ path, edit }: Acknowledged) =>
    edit.edit.kind === "tick" || isEditDone(texts.get(path)!, edit); // the next tick replaces it
  const lost = acknowledged.filter((one) => !isKept(one));
  const claims = acknowledged
    .filter(({ edit }) => edit.edit.kind === "claim")
    .map(({ path, edit }) => `${path} ${"task" in edit.edit ? edit.edit.task.title : ""}`);
  const twice = claims.filter((claim, index) => claims.indexOf(claim) !== index);

  const inFiles = linesIn([...texts.values()]);
  const inSnapshots = linesIn(team.history().map(({ file }) => readFileSync(file, "utf8")));
  const gone = foreign.filter((line) => !inFiles.has(line) && !inSnapshots.has(line));
  const inFile = foreign.filter((line) => inFiles.has(line)).length;
  return {
    edits: acknowledged.length,
    restored: restoredIn(team.root, paths),
    lost: lost.length,
    claimedTwice: twice.length,
    foreignEdits: foreign.length,
    foreignInFile: inFile,
    foreignInSnapshot: foreign.length - inFile - gone.length,
    foreignLost: gone.length,
    problems: [
      ...lost.map((one) => `lost: ${JSON.stringify(one)}`),
      ...twice.map((claim) => `claimed twice: ${claim}`),
      ...gone.map((line) => `lost: ${line}`),
    ],
  };
}

function linesIn(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap((text) => text.split("\n").filter((line) => line.startsWith("Foreign line"))));
}

function restoredIn(root: string, paths: readonly string[]): number {
  const journals = paths.map((path) => readFileSync(join(root, ".cortex/journal", `${path}.jsonl`), "utf8"));
  return journals.join("").match(/"again":/g)?.length ?? 0;
}
