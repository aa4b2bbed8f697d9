/**
 * Commits what housekeeping prunes, and nothing else.
 *
 * The files usually have uncommitted or staged changes by agents and people. So the pruning is applied separately to the
 * committed and the staged version of each file, which leaves the differences between them and the working tree unchanged:
 * the changes of others are still theirs to commit. Only a file that was never committed is committed as a whole.
 *
 * Pruned text can be found in the history, as the protocol promises. Text that was never committed (a task both written and
 * done since the last commit) is kept in the commit message.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { gitList, type GitPlace, GitRefused, gitText, runGit } from "../../programs/git.ts";
import { readObjects, type Repository, type Version } from "./repository.ts";

export interface PrunedFile {
  /** Relative to the team directory, with `/`. */
  readonly path: string;
  /** The content on disk after pruning. */
  readonly text: string;
  /** The removed parts. */
  readonly pruned: readonly string[];
  /** Removes the same parts from another version of the file. */
  readonly prune: (version: string) => string;
}

/** As the team protocol words it. */
export const PRUNE_SUBJECT = "chore: prune completed tasks and old session logs";
/** Used if git has no user configured, as is common on servers. */
const OURSELVES = { name: "Cortex", email: "cortex@localhost" };
const NEW_FILE_MODE = "100644";
const LINK_MODE = "120000";

/** The id of the commit. Undefined: nothing to commit. Throws `GitRefused`; the repository is then unchanged. */
export async function commitPrune(
  repository: Repository,
  files: readonly PrunedFile[],
): Promise<string | undefined> {
  const wanted = await keepTracked(repository, files);
  if (wanted.length === 0) return undefined;
  const scratch = mkdtempSync(join(repository.repository.gitFolder, "cortex-"));
  try {
    const changes = await prepare(repository, wanted, scratch);
    // The index first: a process killed in between leaves the pruning staged, not its reverse.
    await changeIndex(repository, changes.staged);
    try {
      return await commit(repository, changes, scratch);
    } catch (error) {
      await changeIndex(repository, changes.stagedBefore);
      throw error;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Drops ignored files and links. */
async function keepTracked(repository: Repository, files: readonly PrunedFile[]): Promise<PrunedFile[]> {
  const { committed, staged } = repository;
  const isKnown = ({ path }: PrunedFile): boolean => committed.has(path) || staged.has(path);
  const ignored = await ignoredOf(
    repository,
    files.filter((file) => !isKnown(file)).map(({ path }) => path),
  );
  return files.filter(({ path }) => !ignored.has(path) && committed.get(path)?.mode !== LINK_MODE);
}

async function ignoredOf(place: GitPlace, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  try {
    const input = paths.map((path) => `${path}\0`).join("");
    return new Set(await gitList(place, ["check-ignore", "-z", "--stdin"], { input }));
  } catch (error) {
    if (error instanceof GitRefused && error.exit === 1) return new Set(); // none is ignored
    throw error;
  }
}

interface Changes {
  readonly committed: readonly IndexEntry[];
  readonly staged: readonly IndexEntry[];
  readonly stagedBefore: readonly IndexEntry[];
  readonly message: string;
}

interface IndexEntry extends Version {
  readonly path: string;
}

async function prepare(
  repository: Repository,
  files: readonly PrunedFile[],
  scratch: string,
): Promise<Changes> {
  const { committed, staged } = repository;
  const objects = files.flatMap(({ path }) => [committed.get(path)?.object, staged.get(path)?.object]);
  const texts = await readObjects(repository, [...new Set(objects.filter((object) => object !== undefined))]);
  const pruned = prunedVersions(repository, files, texts);
  const written = await writeObjects(repository, [...new Set(pruned.map(({ text }) => text))], scratch);
  const added = await addNew(repository, files);
  const entriesOf = (place: "committed" | "staged"): IndexEntry[] =>
    pruned
      .filter((version) => version.place === place)
      .map(({ path, mode, text }) => ({ path, mode, object: written.get(text) ?? "" }));
  // The null object id is as long as the other ids, whose length depends on the repository.
  const nothing = { mode: "0", object: "0".repeat(added[0]?.object.length ?? 0) };
  return {
    committed: [...entriesOf("committed"), ...added],
    staged: [...entriesOf("staged"), ...added.filter(({ path }) => !staged.has(path))],
    stagedBefore: files.map(({ path }) => ({ path, ...(staged.get(path) ?? nothing) })),
    message: messageOf(files, ({ path }) => texts.get(committed.get(path)?.object ?? "")),
  };
}

interface PrunedVersion {
  readonly place: "committed" | "staged";
  readonly path: string;
  readonly mode: string;
  readonly text: string;
}

function prunedVersions(
  { committed, staged }: Repository,
  files: readonly PrunedFile[],
  texts: ReadonlyMap<string, string>,
): PrunedVersion[] {
  return files.flatMap(({ path, prune }) =>
    (["committed", "staged"] as const).flatMap((place) => {
      const version = (place === "committed" ? committed : staged).get(path);
      const before = texts.get(version?.object ?? "");
      if (version === undefined || before === undefined) return [];
      const text = prune(before);
      return text === before ? [] : [{ place, path, mode: version.mode, text }];
    }),
  );
}

/** Entries for files that were never committed. */
async function addNew(repository: Repository, files: readonly PrunedFile[]): Promise<IndexEntry[]> {
  const entries: IndexEntry[] = [];
  for (const { path, text } of files) {
    if (repository.committed.has(path)) continue;
    const object = await gitText(repository, ["hash-object", "-w", "--stdin", `--path=${path}`], {
      input: text,
    });
    entries.push({ path, mode: NEW_FILE_MODE, object });
  }
  return entries;
}

/** Object ids by text. One git process for all, because starting one takes longer than its work. */
async function writeObjects(
  repository: GitPlace,
  texts: readonly string[],
  scratch: string,
): Promise<ReadonlyMap<string, string>> {
  if (texts.length === 0) return new Map();
  const paths = texts.map((text, i) => {
    const path = join(scratch, String(i));
    writeFileSync(path, text);
    return path;
  });
  const input = `${paths.join("\n")}\n`;
  const printed = await gitText(repository, ["hash-object", "-w", "--no-filters", "--stdin-paths"], {
    input,
  });
  const objects = printed.split("\n");
  return new Map(texts.map((text, i) => [text, objects[i] ?? ""]));
}

async function changeIndex(
  repository: Repository,
  entries: readonly IndexEntry[],
  index?: string,
): Promise<void> {
  if (entries.length === 0) return;
  const { prefix } = repository;
  const input = entries.map(({ path, mode, object }) => `${mode} ${object}\t${prefix}${path}\0`).join("");
  const call = { input, ...(index === undefined ? {} : { index }) };
  await runGit(repository, ["update-index", "-z", "--index-info"], call);
}

/** Uses plumbing commands: `git commit` would also scan all files and run hooks. */
async function commit(
  repository: Repository,
  { committed, message }: Changes,
  scratch: string,
): Promise<string> {
  const { head } = repository;
  const index = join(scratch, "index");
  if (head !== undefined) await runGit(repository, ["read-tree", head], { index });
  await changeIndex(repository, committed, index);
  const tree = await gitText(repository, ["write-tree"], { index });
  const parent = head === undefined ? [] : ["-p", head];
  const identity = (await knowsUser(repository)) ? {} : { identity: repository.user ?? OURSELVES };
  const id = await gitText(repository, ["commit-tree", "--no-gpg-sign", ...parent, "-F", "-", tree], {
    input: message,
    ...identity,
  });
  await moveHead(repository, { id, head });
  return id;
}

/** Refuses if HEAD has moved since we read it: our commit would undo the newer one. */
async function moveHead(
  repository: Repository,
  { id, head = "" }: { id: string; head: string | undefined },
): Promise<void> {
  try {
    await runGit(repository, ["update-ref", "-m", `commit: ${PRUNE_SUBJECT}`, "HEAD", id, head]);
  } catch (error) {
    const now = await gitText(repository, ["rev-parse", "--quiet", "--verify", "HEAD"]).catch(() => "");
    if (now === head) throw error;
    throw new GitRefused("another commit was made at the same time", { cause: error });
  }
}

async function knowsUser(repository: Repository): Promise<boolean> {
  try {
    await runGit(repository, ["var", "GIT_AUTHOR_IDENT"]);
    await runGit(repository, ["var", "GIT_COMMITTER_IDENT"]);
    return true;
  } catch (error) {
    if (error instanceof GitRefused && error.exit !== undefined) return false;
    throw error;
  }
}

function messageOf(
  files: readonly PrunedFile[],
  committedText: (file: PrunedFile) => string | undefined,
): string {
  const unknown = files.flatMap((file) => {
    const text = withoutReturns(committedText(file) ?? "");
    const missing = file.pruned.map(withoutReturns).filter((part) => !text.includes(part.trim()));
    return missing.length === 0 ? [] : [`${file.path}:`, ...missing.map((part) => part.trim())];
  });
  if (unknown.length === 0) return `${PRUNE_SUBJECT}\n`;
  const body = ["This was pruned and had not been committed before.", ...unknown].join("\n\n");
  return `${PRUNE_SUBJECT}\n\n${body}\n`.replaceAll("\0", "\u{FFFD}"); // NUL is invalid in a commit message
}

/** Line ends may differ between git and the disk. */
function withoutReturns(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
