/** The git repository of a team directory: whether it can be committed to now, and its versions of the team's files. */
import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import {
  gitList,
  type GitPlace,
  GitRefused,
  gitText,
  type Identity,
  readUserSettings,
  runGit,
} from "../../programs/git.ts";
import { requireHarmlessConfig } from "../../programs/git-config.ts";

type RepositoryState =
  | { readonly kind: "ready"; readonly repository: Repository }
  /** No repository tracks this team. */
  | { readonly kind: "none"; readonly why: string }
  /** The repository cannot be committed to now. */
  | { readonly kind: "blocked"; readonly why: string };

export interface Repository extends GitPlace {
  readonly repository: NonNullable<GitPlace["repository"]>;
  /** Git's user, if the user's own settings name one. */
  readonly user: Identity | undefined;
  /** Path from its top to the team directory: empty, or ending in `/`. */
  readonly prefix: string;
  /** Undefined: no commits yet. */
  readonly head: string | undefined;
  /** By path relative to the team directory. */
  readonly committed: ReadonlyMap<string, Version>;
  readonly staged: ReadonlyMap<string, Version>;
}

/** A file in git. */
export interface Version {
  readonly mode: string;
  readonly object: string;
}

/** While one of these exists, a commit would disturb an operation in progress. */
const UNDERWAY: Readonly<Record<string, string>> = {
  MERGE_HEAD: "a merge is in progress",
  CHERRY_PICK_HEAD: "a cherry-pick is in progress",
  REVERT_HEAD: "a revert is in progress",
  "rebase-merge": "a rebase is in progress",
  "rebase-apply": "a rebase is in progress",
  "index.lock": "another git process is running, or has left index.lock behind",
};

export async function findRepository(place: GitPlace): Promise<RepositoryState> {
  try {
    return await lookAt(place);
  } catch (error) {
    if (!(error instanceof GitRefused)) throw error;
    if (error.isMissing) return none(error.message);
    if (/not a git repository/.test(error.message)) return none("not a git repository");
    if (/must be run in a work tree/.test(error.message)) return none("not a git work tree");
    return blocked(error.message);
  }
}

/** The texts of objects; those that are not UTF-8 are left out. */
export async function readObjects(
  repository: GitPlace,
  objects: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  if (objects.length === 0) return texts;
  const printed = await runGit(repository, ["cat-file", "--batch"], { input: `${objects.join("\n")}\n` });
  for (let at = 0; at < printed.length;) {
    const end = printed.indexOf(10, at);
    const [object = "", , size] = printed.toString("latin1", at, end).split(" ");
    const start = end + 1;
    at = start + Number(size) + 1;
    const bytes = printed.subarray(start, at - 1);
    if (isUtf8(bytes)) texts.set(object, bytes.toString("utf8"));
  }
  return texts;
}

async function lookAt(place: GitPlace): Promise<RepositoryState> {
  const { identity: user, passedOn: settings } = await readUserSettings(place);
  const found = await gitText({ ...place, settings }, [
    "rev-parse",
    "--is-inside-work-tree",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-toplevel",
    "--show-prefix",
  ]);
  const [isInside, gitFolder, commonFolder, workTree, prefix = ""] = found.split("\n");
  if (isInside !== "true" || gitFolder === undefined || commonFolder === undefined || workTree === undefined)
    return none("not a git work tree");
  const checked = { ...place, settings, repository: { gitFolder, workTree } };
  const staged = versions(await gitList(checked, ["ls-files", "--stage", "-z"]), STAGED);
  // For example, a home folder that is a repository with an untracked team directory inside.
  if (prefix !== "" && staged?.size === 0) return none("git tracks none of its files");
  await requireHarmlessConfig(place, { gitFolder, commonFolder: resolve(place.folder, commonFolder) });
  const underway = Object.entries(UNDERWAY).find(([name]) => existsSync(join(gitFolder, name)));
  if (underway !== undefined) return blocked(underway[1]);
  if ((await answer(checked, ["symbolic-ref", "--quiet", "HEAD"])) === undefined)
    return blocked("HEAD is detached");
  if (staged === undefined) return blocked("there are unresolved conflicts");
  const head = await answer(checked, ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
  const tree = head === undefined ? [] : await gitList(checked, ["ls-tree", "-r", "-z", head]);
  const committed = versions(tree, COMMITTED) ?? new Map<string, Version>();
  return { kind: "ready", repository: { ...checked, prefix, head, committed, staged, user } };
}

/** Undefined: git answers no. */
async function answer(place: GitPlace, args: readonly string[]): Promise<string | undefined> {
  try {
    return await gitText(place, args);
  } catch (error) {
    if (error instanceof GitRefused && error.exit === 1) return undefined;
    throw error;
  }
}

const STAGED = /^(?<mode>\d+) (?<object>[0-9a-f]+) (?<stage>\d)\t(?<path>.*)$/s;
const COMMITTED = /^(?<mode>\d+) \w+ (?<object>[0-9a-f]+)\t(?<path>.*)$/s;

/** Undefined: a path has several versions. */
function versions(lines: readonly string[], pattern: RegExp): Map<string, Version> | undefined {
  const found = new Map<string, Version>();
  for (const line of lines) {
    const { groups } = pattern.exec(line) ?? {};
    assert(groups !== undefined, `git printed ${line}`);
    const { mode = "", object = "", path = "", stage = "0" } = groups;
    if (stage !== "0") return undefined;
    found.set(path, { mode, object });
  }
  return found;
}

function none(why: string): RepositoryState {
  return { kind: "none", why };
}

function blocked(why: string): RepositoryState {
  return { kind: "blocked", why };
}
