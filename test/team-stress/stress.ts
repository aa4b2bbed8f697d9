/**
 * Six processes of ours and an editor that ignores locks write the same task files, one file after the other. In the end,
 * all that was acknowledged to ours is in the files, or its whole task is kept beside them, because it vanished and nobody
 * can tell why; none of those is ready anywhere. No task was claimed twice, and each line of the editor is in a file or in a
 * snapshot of it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

import { isEditDone } from "../../src/team/markdown/apply-edit.ts";
import type { FileEdit } from "../../src/team/markdown/edit.ts";
import { SHORTER_SETTLE_MS } from "../../src/team/files/file-state.ts";
import { readTasks } from "../../src/team/markdown/read-tasks.ts";
import { RACE_MS } from "../../src/team/files/restore-lost.ts";
import { REMOVED_FILE } from "../../src/team/files/set-aside.ts";
import { TeamFolder } from "../../src/team/files/team-folder.ts";
import { temporaryFolder } from "../support/temporary.ts";

const WRITERS = 6;
/** Of each writer in each file: it stays small enough that all its snapshots are kept. */
const EDITS_IN_A_FILE = 80;
/** How often to repeat a spoilt run. */
const MAX_RUNS = 3;
/** A server looks at what the system says of the folder; here it just looks. */
const LOOK_MS = 300;

interface Acknowledged {
  readonly path: string;
  readonly edit: FileEdit;
}

export interface StressFigures {
  readonly edits: number;
  readonly restored: number;
  readonly aside: number;
  readonly lost: number;
  readonly claimedTwice: number;
  readonly foreignEdits: number;
  readonly foreignInFile: number;
  readonly foreignInSnapshot: number;
  readonly foreignLost: number;
  /** How often the machine kept the editor from its work for longer than an editor of a person takes. */
  readonly stalls: number;
  readonly problems: readonly string[];
}

interface ForeignEdit {
  readonly line: string;
  readonly thinkingMs: number;
  readonly writingMs: number;
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
  const written = await Promise.all(writers.map(linesOf<Acknowledged>));
  editor.kill("SIGTERM");
  const foreign = await linesOf<ForeignEdit>(editor);
  looking.abort();
  await looked;
  for (const path of paths) await team.reconcile(path);

  const judged = judge(team, {
    paths,
    acknowledged: written.flatMap(({ lines }) => lines),
    foreign: foreign.lines.map(({ line }) => line),
  });
  const failures = [...written, foreign].flatMap(({ failure }) => failure ?? []);
  return {
    ...judged,
    stalls: foreign.lines.filter(isStall).length,
    problems: [...failures, ...judged.problems],
  };
}

/** Repeats a run that a busy machine has spoilt: an editor halted in the middle of a write shows nothing. */
export async function stressUndisturbed(options: { edits: number; seed: number }): Promise<StressFigures> {
  let figures = await stressTeam(options);
  for (let run = 1; run < MAX_RUNS && figures.problems.length > 0 && figures.stalls > 0; run++)
    figures = await stressTeam(options);
  return figures;
}

/** A file that is shorter than before is given a while to be written to its end; one that was read, to come back. */
function isStall({ thinkingMs, writingMs }: ForeignEdit): boolean {
  return writingMs > SHORTER_SETTLE_MS / 2 || thinkingMs > RACE_MS / 2;
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

interface Said<Line> {
  readonly lines: readonly Line[];
  /** How it ended, where not well. */
  readonly failure: string | undefined;
}

async function linesOf<Line>(child: ChildProcess): Promise<Said<Line>> {
  const [said, [code]] = await Promise.all([textOf(child.stdout!), once(child, "exit")]);
  const lines = said.split("\n").filter((line) => line !== "");
  return {
    lines: lines.map((line) => JSON.parse(line) as Line),
    failure: code === 0 ? undefined : `${child.spawnargs[1]} ended with ${code}`,
  };
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
): Omit<StressFigures, "stalls"> {
  const texts = new Map(paths.map((path) => [path, readFileSync(join(team.root, path), "utf8")]));
  const isKept = ({ path, edit }: Acknowledged) =>
    edit.edit.kind === "tick" || isEditDone(texts.get(path)!, edit); // the next tick replaces it
  const aside = new Map(paths.map((path) => [path, titlesAside(team.root, path)]));
  const isAside = ({ path, edit }: Acknowledged) => aside.get(path)!.has(titleOf(edit) ?? "");
  const lost = acknowledged.filter((one) => !isKept(one) && !isAside(one));
  const both = paths.flatMap((path) =>
    readTasks(texts.get(path)!).tasks.filter(({ title }) => aside.get(path)!.has(title)),
  );
  const claims = acknowledged
    .filter(({ edit }) => edit.edit.kind === "claim")
    .map(({ path, edit }) => `${path} ${titleOf(edit)}`);
  const twice = claims.filter((claim, index) => claims.indexOf(claim) !== index);

  const inFiles = linesIn([...texts.values()]);
  const inSnapshots = linesIn(team.history().map(({ file }) => readFileSync(file, "utf8")));
  const gone = foreign.filter((line) => !inFiles.has(line) && !inSnapshots.has(line));
  const inFile = foreign.filter((line) => inFiles.has(line)).length;
  return {
    edits: acknowledged.length,
    restored: restoredIn(team.root, paths),
    aside: Array.from(aside.values(), (titles) => titles.size).reduce((sum, size) => sum + size, 0),
    lost: lost.length,
    claimedTwice: twice.length,
    foreignEdits: foreign.length,
    foreignInFile: inFile,
    foreignInSnapshot: foreign.length - inFile - gone.length,
    foreignLost: gone.length,
    problems: [
      ...lost.map((one) => `lost: ${JSON.stringify(one)}`),
      ...both.map(({ title }) => `kept beside the file and in it: ${title}`),
      ...twice.map((claim) => `claimed twice: ${claim}`),
      ...gone.map((line) => `lost: ${line}`),
    ],
  };
}

function titleOf({ edit }: FileEdit): string | undefined {
  if ("task" in edit) return edit.task.title;
  return edit.kind === "add" ? edit.title : undefined;
}

function titlesAside(root: string, path: string): ReadonlySet<string> {
  const file = join(root, dirname(path), REMOVED_FILE);
  const { tasks } = readTasks(existsSync(file) ? readFileSync(file, "utf8") : "");
  return new Set(tasks.map(({ title }) => title));
}

function linesIn(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap((text) => text.split("\n").filter((line) => line.startsWith("Foreign line"))));
}

function restoredIn(root: string, paths: readonly string[]): number {
  const journals = paths.map((path) => readFileSync(join(root, ".cortex/journal", `${path}.jsonl`), "utf8"));
  return journals.join("").match(/"again":/g)?.length ?? 0;
}
