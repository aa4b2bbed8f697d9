/** Runs git in a folder: without a shell, without a terminal to ask at, and in English. */
import { type ChildProcess, spawn } from "node:child_process";

export interface GitPlace {
  readonly folder: string;
  readonly environment: Environment;
  readonly timeoutMs?: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface GitCall {
  readonly input?: string;
  /** Another index than that of the repository. */
  readonly index?: string;
  /** Who commits, where git does not know. */
  readonly identity?: { readonly name: string; readonly email: string };
}

/** Hooks of people may take their time; one that asks something would wait for ever. */
const GIT_TIMEOUT_MS = 60_000;
/** So long git may tidy up when it is told to stop. */
const GRACE_MS = 5_000;
const MAX_ERROR_LENGTH = 1_000;

/** Git has refused, or is not there at all. What it said is the message. */
export class GitRefused extends Error {
  override readonly name = "GitRefused";
  /** Undefined: it could not be run, or has not ended by itself. */
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
  { folder, environment, timeoutMs = GIT_TIMEOUT_MS }: GitPlace,
  args: readonly string[],
  call: GitCall = {},
): Promise<Buffer> {
  const child = spawn("git", args, {
    cwd: folder,
    env: environmentOf(environment, call),
    stdio: "pipe",
    detached: true, // a group of its own, so that a hook that hangs is stopped with it
  });
  const timer = setTimeout(() => stop(child), timeoutMs);
  child.stdin.on("error", () => {}); // It has ended without reading on; its exit code tells why.
  child.stdin.end(call.input ?? "");
  const printed: Buffer[] = [];
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => printed.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(0, MAX_ERROR_LENGTH);
  });
  return new Promise<Buffer>((resolve, reject) => {
    child.on("error", (cause) => reject(notRun(cause)));
    child.on("close", (exit) => {
      if (exit === 0) resolve(Buffer.concat(printed));
      else reject(refused(args[0]!, { exit, said, timeoutMs }));
    });
  }).finally(() => clearTimeout(timer));
}

export async function gitText(place: GitPlace, args: readonly string[], call?: GitCall): Promise<string> {
  return (await runGit(place, args, call)).toString("utf8").trimEnd();
}

/** What git lists with `-z`. */
export async function gitList(place: GitPlace, args: readonly string[], call?: GitCall): Promise<string[]> {
  return (await runGit(place, args, call)).toString("utf8").split("\0").slice(0, -1);
}

/** Whoever runs us from a hook of git has variables that name another repository. */
function environmentOf(environment: Environment, { index, identity }: GitCall): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !name.startsWith("GIT_"));
  return {
    ...Object.fromEntries(kept),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
    ...(identity === undefined
      ? {}
      : {
          GIT_AUTHOR_NAME: identity.name,
          GIT_AUTHOR_EMAIL: identity.email,
          GIT_COMMITTER_NAME: identity.name,
          GIT_COMMITTER_EMAIL: identity.email,
        }),
  };
}

function notRun(cause: Error): GitRefused {
  const isMissing = "code" in cause && cause.code === "ENOENT";
  return new GitRefused(isMissing ? "git is not installed" : `git cannot be run: ${cause.message}`, {
    isMissing,
    cause,
  });
}

function refused(
  command: string,
  { exit, said, timeoutMs }: { exit: number | null; said: string; timeoutMs: number },
): GitRefused {
  if (exit === null) return new GitRefused(`git ${command} has not ended within ${timeoutMs} ms`, {});
  return new GitRefused(said.trim() || `git ${command} has ended with ${exit}`, { exit });
}

function stop({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-pid, name);
    } catch {
      // All of them have ended.
    }
  };
  signal("SIGTERM");
  setTimeout(() => signal("SIGKILL"), GRACE_MS).unref();
}
