/**
 * A copy of the source with a few places changed, to run in a child process: to die at a chosen point,
 * or to have a bug that the harness must catch. So the program itself carries no switches for its
 * tests. A change that no longer fits the source fails loudly, and `patches.test.ts` finds it without a run.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { memoryParent, temporaryFolder } from "../support/temporary.ts";

export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** What children need to find what others have compiled before, in this copy or in one that it was made from. */
export function compiledIn(source: string): {
  NODE_COMPILE_CACHE: string;
  NODE_COMPILE_CACHE_PORTABLE: string;
} {
  return { NODE_COMPILE_CACHE: join(source, "compiled"), NODE_COMPILE_CACHE_PORTABLE: "1" };
}

let compiled: Promise<ReadonlyMap<string, Buffer>> | undefined;

/** A copy that is compiled: one that is killed keeps nothing, so `warmUp` lets a child of it end in peace. */
export async function warmSource(
  patches: readonly Patch[],
  warmUp: (source: string) => Promise<void>,
): Promise<ReturnType<typeof patchedSource>> {
  compiled ??= compileUnpatched(warmUp);
  const source = patchedSource(patches);
  for (const [name, code] of await compiled) {
    const path = join(source.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
  }
  await warmUp(source.path);
  return source;
}

/** Most of each copy is as it is here, and need not be compiled again. */
async function compileUnpatched(
  warmUp: (source: string) => Promise<void>,
): Promise<ReadonlyMap<string, Buffer>> {
  using source = patchedSource([]);
  await warmUp(source.path);
  const folder = compiledIn(source.path).NODE_COMPILE_CACHE;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [relative(source.path, path), readFileSync(path)]));
}

/** The folder of the copy, gone when it is disposed of. */
export function patchedSource(patches: readonly Patch[]): Disposable & { readonly path: string } {
  const texts = applyPatches(patches);
  const folder = temporaryFolder(memoryParent());
  cpSync(join(ROOT, "src"), join(folder.path, "src"), { recursive: true });
  cpSync(join(ROOT, "test"), join(folder.path, "test"), { recursive: true });
  cpSync(join(ROOT, "bin"), join(folder.path, "bin"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(folder.path, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
  for (const [file, text] of texts) writeFileSync(join(folder.path, file), text);
  return folder;
}

/** The text of each file that the patches change. Throws and names every patch that does not fit exactly once. */
export function applyPatches(patches: readonly Patch[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const misfits: string[] = [];
  for (const { file, from, to } of patches) {
    const text = texts.get(file) ?? readSource(file);
    const pieces = text.split(from);
    if (pieces.length === 2) texts.set(file, pieces.join(to));
    else misfits.push(`${file} contains ${JSON.stringify(from)} ${pieces.length - 1} times, expected once`);
  }
  if (misfits.length > 0) throw new Error(misfits.join("\n"));
  return texts;
}

function readSource(file: string): string {
  const path = join(ROOT, file);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

const RUNNER = "src/store/sqlite/batch-runner.ts";

/** Lets a child die by itself: CRASH_POINT names the point, CRASH_COUNT how often it is passed first. */
const REACH: Patch = {
  file: "src/store/sqlite/keys.ts",
  from: "const ROWS_PER_TURN",
  to: `let passes = Number(process.env["CRASH_COUNT"]);
globalThis.reach = (point) => {
  if (process.env["CRASH_POINT"] === point && passes-- <= 0) process.kill(process.pid, "SIGKILL");
};
const ROWS_PER_TURN`,
};

/** A point at which a child can be told to die. */
export interface Point {
  readonly name: string;
  readonly patch: Patch;
}

/** Those in the life of a batch of writes. */
export const STORE_POINTS: readonly Point[] = [
  before("before the commit", RUNNER, "      commit.run();\n    } catch"),
  before("after the commit", RUNNER, "    } catch (error) {\n      if (db.inTransaction) rollback"),
  before("between two operations", RUNNER, "    savepoint.run();\n"),
  before(
    "inside an operation that commits a turn",
    "src/store/sqlite/insert-turn.ts",
    "    const { facts } = turn;\n",
  ),
  before(
    "inside an operation that accepts an event",
    "src/store/sqlite/dispatch.ts",
    "    const inserted = insertDispatch.run(",
  ),
  before(
    "inside an operation that records a firing",
    "src/store/sqlite/record-hook-run.ts",
    "    const key = insertRun(",
  ),
];

export function before(name: string, file: string, from: string): Point {
  // The processes of sub-agents run the same source, and nobody tells them where to die.
  return { name, patch: { file, from, to: `globalThis.reach?.(${JSON.stringify(name)});\n${from}` } };
}

/** The points that can be had beside other patches, and what it takes to have them. */
export function deathPoints(
  points: readonly Point[],
  patches: readonly Patch[],
): { names: string[]; patches: Patch[] } {
  const possible = points.filter(({ patch }) => !patches.some(({ file }) => file === patch.file));
  return { names: possible.map(({ name }) => name), patches: [REACH, ...possible.map(({ patch }) => patch)] };
}

export interface SeededBug {
  readonly name: string;
  /** How the harness must find it. That it also makes the child stumble is not enough. */
  readonly symptom: RegExp;
  readonly patches: readonly Patch[];
}

/** Mistakes that a durable store must not make, each made on purpose. */
export const SEEDED_BUGS: readonly SeededBug[] = [
  {
    name: "acknowledge before the commit",
    symptom: /is lost$/,
    patches: [
      { file: RUNNER, from: "      commit.run();\n", to: "" },
      // With the death point that stands before every commit, which is now a point after the answer: it
      // leaves the main thread a moment to pass the answer on.
      {
        file: RUNNER,
        from: "copyLog(db),",
        to: `{
      if (Math.random() < 0.02) {
        for (const start = Date.now(); Date.now() < start + 10;);
        process.kill(process.pid, "SIGKILL");
      }
      commit.run();
    },`,
      },
      { file: RUNNER, from: "walFrames: logFrames()", to: "walFrames: 0" },
      { file: "src/store/sqlite/writer-thread.ts", from: "if (batch.checkpoint) runner", to: "runner" },
    ],
  },
  {
    name: "no transaction",
    symptom: /without its|without a run|whose items|not all there|whose run is/,
    patches: [
      { file: RUNNER, from: "      begin.run();\n", to: "" },
      { file: RUNNER, from: "      commit.run();\n", to: "" },
      { file: RUNNER, from: "    savepoint.run();\n", to: "" },
      {
        file: RUNNER,
        from: "      results.push(DONE, outcome);\n    }\n    release.run();\n",
        to: "      results.push(DONE, outcome);\n    }\n",
      },
      { file: RUNNER, from: "      undo.run();\n      const { code", to: "      const { code" },
    ],
  },
  {
    name: "no fence check",
    symptom: /a commit with a lost lease .* was taken/,
    patches: [
      {
        file: "src/store/sqlite/held.ts",
        from: "held.epoch !== lease.epoch || held.holder === null || held.run_id !== run",
        to: "held.run_id === null",
      },
    ],
  },
  {
    name: "double claim",
    symptom: /was given out twice at once/,
    patches: [
      {
        file: "src/store/sqlite/claim.ts",
        from: "const until = nowMs + request.ttlMs;",
        to: "const until = nowMs;",
      },
    ],
  },
  {
    name: "what is to be judged kept in memory",
    symptom: /event that hooks have forgotten/,
    patches: [
      {
        file: "src/store/sqlite/unjudged.ts",
        from: 'db.prepare("insert into unjudged (event) values (?)")',
        to: 'db.prepare("select ?")',
      },
      { file: "src/store/sqlite/unjudged.ts", from: "insert.run(event)", to: "insert.get(event)" },
    ],
  },
  {
    name: "pointer moved before the turn",
    symptom: /session whose head is no turn/,
    patches: [
      { file: "src/store/sqlite/connection.ts", from: "foreign_keys = on", to: "foreign_keys = off" },
      {
        file: "src/store/sqlite/journal.ts",
        from: "    if (written > 0) addProgress.run(written, merged, costUsd, run.run);\n",
        to: `    if (written > 0) addProgress.run(written, merged, costUsd, run.run);
    db.prepare("update session set head = ? where key = ?").run(run.turn, run.key);
    db.prepare("update run set parent = ? where key = ?").run(run.turn, run.run);
`,
      },
      {
        file: "src/store/sqlite/commit-turn.ts",
        from: "if (held.head === held.parent && held.head_id === parent) return undefined;",
        to: "if (held.head === held.parent) return undefined;",
      },
      {
        file: "src/store/sqlite/insert-turn.ts",
        from: "const position = positionBelow(held.head);",
        to: "const position = positionBelow(held.head === turn.key ? null : held.head);",
      },
    ],
  },
];
