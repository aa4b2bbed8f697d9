/**
 * Files that decide what agents are told and which programs run: they belong to people. In a session with text from
 * others, an agent can only propose to change one.
 *
 * A file counts by its name in any folder, because programs look for these names in every project. Names are compared as
 * the most forgiving file system would: without case, characters that nobody sees, and trailing dots and spaces.
 */
import { realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";

import { hasCode } from "../../model/error-code.ts";
import { type AgentFolders, isInside } from "./confine.ts";
import type { ToolContext } from "../../model/tool.ts";

/** Agents follow them. Cortex reads the first ones from a workspace. */
export const IDENTITY_FILES = [
  "AGENTS.md",
  "SOUL.md",
  "IDENTITY.md",
  "USER.md",
  "MEMORY.md",
  "CLAUDE.md",
] as const;
const OTHER_INSTRUCTIONS =
  "AGENT.md AGENTS.override.md CLAUDE.local.md GEMINI.md SKILL.md copilot-instructions.md " +
  ".clinerules .cursorrules .windsurfrules";
const IDENTITY = new Set([...IDENTITY_FILES, ...OTHER_INSTRUCTIONS.split(" ")].map(nameOf));

/** They name programs that shells, editors, package managers and build tools run. */
const RUNNERS = new Set(
  (
    ".bash_aliases .bash_login .bash_logout .bash_profile .bashrc .envrc .exrc .gitconfig .gitlab-ci.yml .gitmodules " +
    ".inputrc .justfile .mcp.json .mise.toml .npmrc .pre-commit-config.yaml .profile .travis.yml .vimrc .yarnrc " +
    ".yarnrc.yml .zlogin .zlogout .zprofile .zshenv .zshrc azure-pipelines.yml bitbucket-pipelines.yml conftest.py " +
    "containerfile dockerfile gnumakefile jenkinsfile justfile makefile mise.toml opencode.json package.json " +
    "pnpm-workspace.yaml pyproject.toml rakefile"
  ).split(" "),
);
/** With the variants that programs read beside the first: `compose.override.yaml`, `lefthook-local.yml`. */
const RUNNER_NAME =
  /^(?:docker-)?compose(?:\.[^.]+)?\.ya?ml$|^(?:dockerfile|containerfile)\.|^\.?(?:lefthook(?:-local)?|taskfile(?:\.dist)?)\.(?:ya?ml|toml|json)$|^\.pnpmfile\.[cm]?js$|\.(?:code-workspace|dockerfile|mk)$/;

/** Every file in them is one. */
const FOLDERS = new Set(
  (
    ".cargo .circleci .claude .claude-plugin .clinerules .codex .continue .cursor .devcontainer .gemini .githooks " +
    ".husky .idea .kiro .roo .vscode .windsurf .zed"
  ).split(" "),
);
/** And those of other folders, with names that are too common by themselves. */
const FOLDERS_WITHIN = new Map([
  [".github", new Set(["actions", "instructions", "workflows"])],
  [".config", new Set(["fish", "git", "mise"])],
]);

type ControlKind = "identity" | "runner" | "folder";

/** All without links. */
export interface ControlledFolders {
  /** The folders that an agent may use: what is above them does not count. */
  readonly open: readonly string[];
  /** Every file in them is a control file. Files may be named, too. */
  readonly peoples: readonly string[];
}

/** What a path, without links, is for. Undefined: it is no control file. */
export function controlFile(path: string, { open, peoples }: ControlledFolders): ControlKind | undefined {
  const below = open.filter((folder) => isInside(path, folder)).map((folder) => relative(folder, path));
  const longest = below.toSorted((a, b) => b.length - a.length)[0] ?? path;
  const names = longest.split(sep).map(nameOf);
  const name = names.at(-1)!;
  if (IDENTITY.has(name)) return "identity";
  if (RUNNERS.has(name) || RUNNER_NAME.test(name)) return "runner";
  const isInFolder =
    peoples.some((folder) => isInside(path, folder)) ||
    names.some(
      (each, at) => FOLDERS.has(each) || FOLDERS_WITHIN.get(each)?.has(names[at + 1] ?? "") === true,
    );
  return isInFolder ? "folder" : undefined;
}

function nameOf(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gv, "")
    .toLowerCase()
    .replace(/:.*$/, "") // a stream of NTFS
    .replace(/[. ]+$/, "");
}

type ContextFolders = Pick<AgentFolders, "workspace" | "roots" | "reserved"> & Pick<ToolContext, "peoples">;

/** Includes the targets of identity files that are links. */
export async function controlledFolders({
  workspace,
  roots,
  reserved,
  peoples = [],
}: ContextFolders): Promise<ControlledFolders> {
  const named = [
    ...["skills", ...IDENTITY_FILES].map((name) => join(workspace, name)),
    ...reserved,
    ...peoples,
  ];
  const [open, closed] = await Promise.all(
    [[workspace, ...roots], named].map((paths) => Promise.all(paths.map(withoutLinks))),
  );
  return { open: open!, peoples: closed! };
}

async function withoutLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return path;
    throw error;
  }
}
