/**
 * Refuses a repository whose configuration could make git run a program or read configuration from elsewhere.
 *
 * It is an allowlist: every version of git adds settings, and so do programs that extend it. Git itself parses the files, so
 * they mean the same here as when they are used.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { type GitPlace, GitRefused, type GitSetting, parseConfigList, runGit } from "./git.ts";

interface GitFolders {
  readonly gitFolder: string;
  /** The same, except for a linked work tree. */
  readonly commonFolder: string;
}

/** Throws a `GitRefused` that names the file and the key. */
export async function requireHarmlessConfig(
  place: GitPlace,
  { gitFolder, commonFolder }: GitFolders,
): Promise<void> {
  const files = [join(commonFolder, "config"), join(gitFolder, "config"), join(gitFolder, "config.worktree")];
  for (const file of new Set(files)) {
    if (!existsSync(file)) continue;
    const outside = { ...place, folder: "/" };
    const printed = await runGit(outside, ["config", "--file", file, "--no-includes", "--null", "--list"]);
    const found = parseConfigList(printed.toString("utf8")).find((setting) => !isHarmless(setting));
    if (found !== undefined)
      throw new GitRefused(
        `${file} sets ${found.key}, which can run a program or read other settings. ` +
          "Cortex refuses such a repository: remove the setting, or move it to your ~/.gitconfig",
        {},
      );
  }
}

/** Sections, without subsections, whose settings never run a program. */
const HARMLESS_SECTIONS = new Set(
  (
    "advice apply author blame color column commit committer extensions feature fetch format gc gui i18n index init log " +
    "notes pack pull push rebase receive rerere stash status submodule tag transfer user"
  ).split(" "),
);

const HARMLESS_KEYS = new Set([
  ...(
    "abbrev attributesfile autocrlf bare bigfilethreshold checkroundtripencoding checkstat commentchar commitgraph compression " +
    "createobject deltabasecachelimit eol excludesfile filemode fscache fsync fsyncmethod fsyncobjectfiles " +
    "hidedotfiles ignorecase ignorestat logallrefupdates longpaths loosecompression multipackindex notesref " +
    "packedgitlimit packedgitwindowsize precomposeunicode preferreplacerefs preloadindex protecthfs protectntfs " +
    "quotepath repositoryformatversion restrictinheritedhandles safecrlf sharedrepository sparsecheckout " +
    "sparsecheckoutcone splitindex symlinks trustctime untrackedcache warnambiguousrefs whitespace worktree"
  )
    .split(" ")
    .map((name) => `core.${name}`),
  "credential.usehttppath",
  "credential.username",
  ..."algorithm colormoved colormovedws context indentheuristic mnemonicprefix noprefix renamelimit renames submodule"
    .split(" ")
    .map((name) => `diff.${name}`),
  "gpg.format",
  "http.postbuffer",
  "http.sslverify",
  "http.version",
  "lfs.repositoryformatversion",
  ..."conflictstyle ff log renamelimit renames stat".split(" ").map((name) => `merge.${name}`),
]);

/** Harmless names of settings with a subsection, by section. */
const HARMLESS_BELOW: Readonly<Record<string, ReadonlySet<string>>> = {
  branch: new Set(["description", "merge", "pushremote", "rebase", "remote", "vscode-merge-base"]),
  color: new Set(["branch", "diff", "grep", "interactive", "status"]),
  diff: new Set(["algorithm", "binary", "funcname", "wordregex", "xfuncname"]),
  http: new Set(["extraheader"]),
  lfs: new Set(["access", "locksverify"]),
  remote: new Set(
    "fetch gh-resolved mirror partialclonefilter promisor prune prunetags push pushurl skipdefaultupdate skipfetchall tagopt url".split(
      " ",
    ),
  ),
  submodule: new Set(["active", "branch", "fetchrecursesubmodules", "ignore", "url"]),
  url: new Set(["insteadof", "pushinsteadof"]),
};

/** Exceptions in harmless sections: they name a program or a file with settings. */
const HARMFUL = new Set(["gc.recentobjectshook", "init.templatedir"]);

/** `ext::sh -c …`: a URL that is a command. */
const IS_COMMAND = /^\s*[A-Za-z0-9+.-]+::/;

/** True is git's built-in monitor and false none; anything else is a command. */
const IS_BOOLEAN = /^(true|false|yes|no|on|off|[01]?)$/i;

function isHarmless({ key, value = "true" }: GitSetting): boolean {
  const [start, end] = [key.indexOf("."), key.lastIndexOf(".")];
  const [section, name] = [key.slice(0, start), key.slice(end + 1)];
  if (start !== end)
    return (
      HARMLESS_BELOW[section]?.has(name) === true &&
      !IS_COMMAND.test(key.slice(start + 1)) &&
      !IS_COMMAND.test(value)
    );
  if (section === "alias") return !value.trimStart().startsWith("!");
  if (key === "core.fsmonitor") return IS_BOOLEAN.test(value);
  return HARMLESS_KEYS.has(key) || (HARMLESS_SECTIONS.has(section) && !HARMFUL.has(key));
}
