/**
 * Whether commands of agents run in a sandbox, and what becomes of them if not. Bubblewrap may be installed and
 * still not work, where the kernel or a container gives no namespaces: so it is tried.
 */
import { access, constants, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";

import { inSandbox } from "../agents/tools/sandbox.ts";
import type { Config } from "../config/config.ts";
import type { Sandbox } from "../model/tool.ts";
import type { Variables } from "../programs/environment.ts";
import { repositoryOf } from "../programs/git-directory.ts";
import { runToEnd } from "../programs/run-group.ts";

export interface SandboxMode {
  readonly setting: Config["sandbox"];
  /** asks: each command needs a person's yes. refuses: none is run. plain: they run as they are. */
  readonly effective: "sandboxed" | "asks" | "refuses" | "plain";
  /** A sentence without a full stop. */
  readonly why: string;
  /** The program, where it works. */
  readonly bubblewrap?: string;
  /** What to do about it, where something should be done. */
  readonly hint?: string;
}

/** What was found on this machine. */
type Found = { readonly bubblewrap: string } | { readonly problem: string; readonly hint: string };

export interface SandboxWatch {
  /** With the current configuration. */
  readonly mode: () => SandboxMode;
  /** For `ToolContext.sandbox`. */
  sandbox(): Sandbox | undefined;
  /** Tries again what works on this machine. */
  lookAgain(): Promise<void>;
}

export async function openSandbox(given: {
  readonly home: string;
  readonly environment: Variables;
  readonly setting: () => Config["sandbox"];
  /** Where Cortex itself uses git. */
  readonly sharedFolders: () => Promise<readonly string[]>;
}): Promise<SandboxWatch> {
  const { home, environment, setting, sharedFolders } = given;
  let found = await findBubblewrap(environment);
  const mode = (): SandboxMode => sandboxMode(setting(), found);
  return {
    mode,
    sandbox() {
      const { effective, bubblewrap } = mode();
      if (effective !== "sandboxed" || bubblewrap === undefined) return undefined;
      return { bubblewrap, hidden: [home], readOnly: () => closedRepositories(sharedFolders) };
    },
    async lookAgain() {
      found = await findBubblewrap(environment);
    },
  };
}

async function closedRepositories(
  sharedFolders: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  return (await sharedFolders()).flatMap((folder) => repositoryOf(folder));
}

export function sandboxMode(setting: Config["sandbox"], found: Found): SandboxMode {
  if (setting === "off") {
    const hint = 'Remove `"sandbox": "off"` from config/cortex.json.';
    return { setting, effective: "plain", why: "the configuration disables the sandbox", hint };
  }
  if ("bubblewrap" in found) {
    const { bubblewrap } = found;
    return { setting, effective: "sandboxed", why: `${bubblewrap} works here`, bubblewrap };
  }
  const { problem: why, hint } = found;
  return { setting, effective: setting === "auto" ? "asks" : "refuses", why, hint };
}

/** One line for people. */
export function describeSandbox({ effective, why }: Pick<SandboxMode, "effective" | "why">): string {
  return `${SENTENCES[effective]}, because ${why}.`;
}

const SENTENCES: Readonly<Record<SandboxMode["effective"], string>> = {
  sandboxed: "Agent commands run in a sandbox",
  asks: "Each agent command needs your approval",
  refuses: "Agent commands are refused",
  plain: "Agent commands run without a sandbox, with all your permissions",
};

/** Looks for `bwrap` on the path, and lets it do what it will be needed for. */
export async function findBubblewrap(environment: Variables): Promise<Found> {
  const folders = (environment["PATH"] ?? "").split(":").filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    const bubblewrap = join(folder, "bwrap");
    if (await isProgram(bubblewrap)) return tryOut(bubblewrap, environment["PATH"] ?? "");
  }
  return { problem: "bubblewrap is not installed", hint: INSTALL };
}

const INSTALL =
  "Install it: `apt-get install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`. Requires Linux.";

/** How an older one answers: it cannot keep programs from making namespaces of their own. */
const UNKNOWN_OPTION = "Unknown option";
const UPDATE = "Update bubblewrap to 0.8 or later; commands could leave the sandbox of an older one.";

const NOT_ALLOWED =
  "Allow unprivileged user namespaces: see kernel.unprivileged_userns_clone, " +
  "kernel.apparmor_restrict_unprivileged_userns or, in a container, its options.";

/** It takes about 10 ms. */
const TRY_MS = 10_000;

async function tryOut(bubblewrap: string, PATH: string): Promise<Found> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "cortex-sandbox-"));
    const program = await inSandbox(
      { file: "/bin/sh", args: ["-c", ":"], folder, environment: { PATH } },
      {
        workspace: folder,
        roots: [],
        outputFolder: folder,
        readable: [],
        hidden: [],
        reserved: [],
        sandbox: { bubblewrap },
      },
      { drainMs: 0 },
    );
    await using _ = program.guard;
    const { exitCode, signal, output } = await runToEnd({ ...program, timeoutMs: TRY_MS });
    if (exitCode === 0) return { bubblewrap };
    const said = output.toString().trim().split("\n").at(-1);
    if (said?.includes(UNKNOWN_OPTION)) return { problem: `${bubblewrap} is older than 0.8`, hint: UPDATE };
    return doesNotWork(bubblewrap, said || `it exited with ${exitCode ?? signal}`);
  } catch (error) {
    return doesNotWork(bubblewrap, error instanceof Error ? error.message : String(error));
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

function doesNotWork(bubblewrap: string, why: string): Found {
  return { problem: `${bubblewrap} does not work here (${why})`, hint: NOT_ALLOWED };
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
