/** Ways into git directories, for every tool that writes: what is in there decides which programs git runs. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { alternating, type Attack, call, type Entry, type Order } from "../attack.ts";

const ENTRIES: readonly Entry[] = ["paired", "document", "source", "page"];
const CLOSED = /git directory/;

const CONFIG = "[core]\n\tbare = false\n";

/** What git takes for a repository: two folders and a file. */
function gitFolder(at: string): Readonly<Record<string, string>> {
  return {
    [`${at}/HEAD`]: "ref: refs/heads/main\n",
    [`${at}/config`]: CONFIG,
    [`${at}/objects/.keep`]: "",
    [`${at}/refs/.keep`]: "",
  };
}

/** Repositories of all kinds in a workspace. */
export function plantRepositories(workspace: string): void {
  const files: Readonly<Record<string, string>> = {
    ...gitFolder("repo/.git"),
    ...gitFolder("repo/.git/modules/lib"),
    "repo/lib/.git": "gitdir: ../.git/modules/lib\n",
    ...gitFolder("repo/vendor/deep/.git"),
    "repo/.git/worktrees/side/HEAD": "ref: refs/heads/side\n",
    "repo/.git/worktrees/side/commondir": "../..\n",
    "side/.git": "gitdir: ../repo/.git/worktrees/side\n",
    "apart/.git": "gitdir: ../kept-apart\n",
    ...gitFolder("kept-apart"),
    ...gitFolder("bare"),
    "half/HEAD": "ref: refs/heads/main\n",
    "half/objects/.keep": "",
    "linked-half/HEAD": "ref: refs/heads/main\n",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
  symlinkSync("repo/.git", join(workspace, "git-link"));
  symlinkSync("repo/.git/config", join(workspace, "config-link"));
  symlinkSync("../bare", join(workspace, "half", "link"));
}

const THERE: readonly string[] = [
  "repo/.git/config",
  "repo/.git/modules/lib/config",
  "repo/lib/.git",
  "repo/vendor/deep/.git/config",
  "repo/.git/worktrees/side/commondir",
  "side/.git",
  "apart/.git",
  "kept-apart/config",
  "bare/config",
  "git-link/config",
  "config-link",
  "half/link/config",
];

const NEW: readonly string[] = [
  ".git",
  ".git/config",
  "new/.git/hooks/post-commit",
  "repo/.git/hooks/pre-commit",
  "repo/.git/config.worktree",
  "repo/.git/commondir",
  "repo/.git/info/attributes",
  "repo/.git/objects/info/alternates",
  "repo/.git/modules/new/config",
  "repo/.git/worktrees/side/config.worktree",
  "kept-apart/hooks/post-commit",
  "bare/hooks/post-receive",
  "repo/.GIT/config",
  "repo/.Git/hooks/pre-commit",
  "repo/.git./config",
  "repo/.git /config",
  "repo/.git::$INDEX_ALLOCATION/config",
  "repo/GIT~1/config",
  "repo/.g\u200Cit/config",
  "git-link/hooks/post-checkout",
  "inbox/../repo/.git/hooks/post-merge",
  "{{workspace}}/repo/.git/hooks/post-merge",
  "half/refs/heads/main",
  "half/REFS/heads/main",
  "linked-half/commondir",
];

const WRITERS: readonly ((path: string) => Order)[] = [
  (path) => call("Write", { path, content: '[core]\n\tfsmonitor = "touch /tmp/ran"\n' }),
  (path) => call("Edit", { path, edits: [{ oldText: "e", newText: "the attacker was here" }] }),
  (path) => call("file_write", { path, content: "gitdir: /tmp/evil\n" }),
];

export const repositoryAttacks: readonly Attack[] = [
  ...alternating(THERE, ENTRIES).flatMap(([path, entry]) =>
    WRITERS.map((order) => attack(order(path), path, entry)),
  ),
  ...alternating(NEW, ENTRIES).flatMap(([path, entry]) =>
    [WRITERS[0]!, WRITERS[2]!].map((order) => attack(order(path), path, entry)),
  ),
];

const COMMANDS: readonly string[] = [
  "echo planted >> repo/.git/config",
  "echo planted > repo/.git/hooks/post-commit; chmod +x repo/.git/hooks/post-commit",
  "mv repo/.git aside-1; cp -r aside-1 repo/.git; echo planted >> repo/.git/config",
  "mv repo aside-2; cp -r aside-2 repo; echo planted >> repo/.git/config",
  "rm -rf repo/.git; mkdir -p repo/.git; echo planted > repo/.git/config",
  "echo planted > repo/.git/modules/lib/config; echo planted > bare/config",
  "echo ../../../inbox > repo/.git/commondir; echo planted > repo/.git/worktrees/side/commondir",
  "rm -f side/.git apart/.git; echo 'gitdir: /tmp' > side/.git; echo 'gitdir: /tmp' > apart/.git",
  "ln -sf /etc/hosts kept-apart/config; ln -sfn /tmp kept-apart/hooks",
  "umount repo/.git/config; mount -o remount,rw,bind repo/.git/config; echo planted > repo/.git/config",
];

/** In the sandbox they run, and what decides on programs is as it was. */
export const repositoryCommands: readonly Attack[] = COMMANDS.map((command) => ({
  name: `Bash: ${command}`,
  entry: "paired",
  steps: [[call("Bash", { command })]],
  fate: "confined",
}));

function attack(order: Order, path: string, entry: Entry): Attack {
  return { name: `${order.name} ${path}`, entry, steps: [[order]], fate: "refused", because: CLOSED };
}
