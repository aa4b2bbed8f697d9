/**
 * Runs git so that a repository cannot make it run programs.
 *
 * A repository's configuration can name programs for almost everything git does, and anyone who can write to the repository
 * can write its configuration. So git gets a fixed configuration on its command line, which overrides the repository's, and
 * ignores the system's and the user's. Settings with arbitrary names, such as filters, cannot be switched off like this:
 * `git-config.ts` refuses repositories that have them.
 */
import { hasCode } from "../model/error-code.ts";
import { errorText } from "../model/errors.ts";
import { childEnvironment, type Variables } from "./environment.ts";
import { type RunEnd, runToEnd } from "./run-group.ts";

export interface GitPlace {
  readonly folder: string;
  /** Ours; git gets only the variables on the list. */
  readonly environment: Variables;
  readonly timeoutMs?: number;
  /** The repository that was checked. Absent: git finds one. */
  readonly repository?: { readonly gitFolder: string; readonly workTree: string };
  /** Settings of the user that are passed on. */
  readonly settings?: readonly string[];
}

interface GitCall {
  readonly input?: string;
  /** An index other than the repository's. */
  readonly index?: string;
  /** The committer. Absent: as configured in the repository. */
  readonly identity?: Identity;
}

export interface Identity {
  readonly name: string;
  readonly email: string;
}

const GIT_TIMEOUT_MS = 60_000;
/** Enough for a list of all files of a large repository. */
const MAX_GIT_OUTPUT_BYTES = 256 * 1024 * 1024;

const FIXED: readonly string[] = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.editor=false",
  "core.sshCommand=false",
  "core.askPass=",
  "core.alternateRefsCommand=false",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "gpg.program=false",
  "credential.helper=",
  "diff.external=",
  "protocol.allow=never",
  "safe.bareRepository=explicit",
  "submodule.recurse=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "user.useConfigOnly=true",
];

const VARIABLES: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  HOME: "/dev/null", // for versions of git that do not know GIT_CONFIG_GLOBAL
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  GIT_EDITOR: "false",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
};

/** Git failed or is not installed. The message is git's own. */
export class GitRefused extends Error {
  override readonly name = "GitRefused";
  /** Undefined: it could not be started, or was killed. */
  readonly exit: number | undefined;
  readonly isMissing: boolean;

  constructor(message: string, options: { exit?: number | undefined; isMissing?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.exit = options.exit;
    this.isMissing = options.isMissing ?? false;
  }
}

/** What it has printed. Throws `GitRefused` where it has not ended well. */
export async function runGit(
  place: GitPlace,
  args: readonly string[],
  { input, index, identity }: GitCall = {},
): Promise<Buffer> {
  const { repository, settings = [] } = place;
  const where =
    repository === undefined
      ? []
      : [`--git-dir=${repository.gitFolder}`, `--work-tree=${repository.workTree}`];
  const fixed = [...settings, ...FIXED].flatMap((setting) => ["-c", setting]);
  return run(place, ["--no-pager", ...where, ...fixed, ...args], {
    name: args[0] ?? "",
    ...(input === undefined ? {} : { input }),
    variables: {
      ...VARIABLES,
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
      ...(identity === undefined ? {} : variablesOf(identity)),
    },
  });
}

export async function gitText(place: GitPlace, args: readonly string[], call?: GitCall): Promise<string> {
  return (await runGit(place, args, call)).toString("utf8").trimEnd();
}

/** A list that git prints with `-z`. */
export async function gitList(place: GitPlace, args: readonly string[], call?: GitCall): Promise<string[]> {
  return (await runGit(place, args, call)).toString("utf8").split("\0").slice(0, -1);
}

/** The user's global settings that we need; none of them runs a program. */
interface UserSettings {
  readonly identity: Identity | undefined;
  /** In the form of `-c`. */
  readonly passedOn: readonly string[];
}

const NEEDED = new Set(["safe.directory", "init.defaultbranch"]);

export async function readUserSettings({
  environment,
  timeoutMs,
}: Pick<GitPlace, "environment" | "timeoutMs">): Promise<UserSettings> {
  const place = { folder: "/", environment, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const args = ["--no-pager", "config", "--global", "--includes", "--null", "--list"];
  const printed = await run(place, args, { name: "config", variables: { LC_ALL: "C" } }).catch((error) => {
    if (error instanceof GitRefused && error.exit !== undefined) return Buffer.alloc(0); // no such file
    throw error;
  });
  const settings = parseConfigList(printed.toString("utf8"));
  const last = (key: string): string | undefined =>
    settings.findLast((setting) => setting.key === key)?.value;
  const [name, email] = [last("user.name"), last("user.email")];
  return {
    identity: name === undefined || email === undefined ? undefined : { name, email },
    passedOn: settings
      .filter(({ key }) => NEEDED.has(key))
      .map(({ key, value = "" }) => `${key}=${value.replace(/^~(?=\/)/, environment["HOME"] ?? "~")}`),
  };
}

export interface GitSetting {
  /** `section.name` or `section.subsection.name`. Git prints section and name in lower case. */
  readonly key: string;
  /** Undefined: a key without a value, which means true. */
  readonly value: string | undefined;
}

/** Parses the output of `git config --null --list`. */
export function parseConfigList(text: string): GitSetting[] {
  return text
    .split("\0")
    .slice(0, -1)
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end === -1
        ? { key: entry, value: undefined }
        : { key: entry.slice(0, end), value: entry.slice(end + 1) };
    });
}

async function run(
  { folder, environment, timeoutMs = GIT_TIMEOUT_MS }: GitPlace,
  args: readonly string[],
  call: { name: string; input?: string; variables: Readonly<Record<string, string>> },
): Promise<Buffer> {
  const { name, variables, ...input } = call;
  let end: RunEnd;
  try {
    end = await runToEnd({
      file: "git",
      args,
      folder,
      environment: { ...childEnvironment(environment), ...variables },
      timeoutMs,
      maxOutputBytes: MAX_GIT_OUTPUT_BYTES,
      ...input,
    });
  } catch (cause) {
    throw notRun(cause);
  }
  if (end.stopped === "timeout") throw new GitRefused(`git ${name} timed out after ${timeoutMs} ms`, {});
  if (end.hasTooMuchOutput)
    throw new GitRefused(`git ${name} printed more than ${MAX_GIT_OUTPUT_BYTES} bytes`, {});
  if (end.exitCode !== 0)
    throw new GitRefused(end.errors.trim() || `git ${name} exited with ${end.exitCode ?? end.signal}`, {
      exit: end.exitCode,
    });
  return end.output;
}

function variablesOf({ name, email }: Identity): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

function notRun(cause: unknown): GitRefused {
  const isMissing = hasCode(cause, "ENOENT");
  return new GitRefused(isMissing ? "git is not installed" : `Cannot run git: ${errorText(cause)}`, {
    isMissing,
    cause,
  });
}
