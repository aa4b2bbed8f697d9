/**
 * Isolates a program from the rest of the machine with bubblewrap.
 *
 * The program sees the system's programs, read-only, the agent's folders, and a private `/tmp`. It has no network, sees no
 * other processes, and has no capabilities (by default, bubblewrap leaves root all of them, enough to remount `/usr`
 * writable). Everything it starts ends with it, because the process namespace ends.
 */
import { readlink, realpath } from "node:fs/promises";

import type { ToolContext } from "../../model/tool.ts";
import { hasCode } from "../../model/error-code.ts";
import { controlledFolders } from "./control-file.ts";
import type { GuardedControl, Mount } from "./sandbox-git.ts";
import { planMounts } from "./sandbox-mounts.ts";

interface SandboxedProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Files and folders it reads in addition to those of the system and of the agent. */
  readonly needs?: readonly string[];
}

interface SandboxCommand extends SandboxedProgram {
  /** Dispose of it when the program has ended. */
  readonly guard?: AsyncDisposable;
}

type SandboxContext = Pick<
  ToolContext,
  | "workspace"
  | "roots"
  | "outputFolder"
  | "readable"
  | "hidden"
  | "reserved"
  | "sandbox"
  | "peoples"
  | "agreed"
>;

/**
 * The command that runs a program in the sandbox; without a sandbox, the program itself. The exit code is the program's, or
 * 128 plus the number of the signal that killed it, as in a shell. Errors go to the output. Background processes have
 * `drainMs` to finish.
 */
export async function inSandbox(
  program: SandboxedProgram,
  context: SandboxContext,
  { drainMs }: { readonly drainMs: number },
): Promise<SandboxCommand> {
  if (context.sandbox === undefined) return program;
  const { bubblewrap, hidden = [], readOnly } = context.sandbox;
  const { mounts, place, guard } = await planMounts({
    writable: [context.workspace, ...context.roots],
    readable: [context.outputFolder, ...context.readable, ...(program.needs ?? [])],
    hidden: [...hidden, ...context.hidden],
    reserved: context.reserved,
    readOnly: (await readOnly?.()) ?? [],
    control: await controlOf(context),
    folder: program.folder,
    system: await systemMounts(),
  });
  const tries = String(Math.ceil(drainMs / LOOK_EVERY_MS));
  return {
    file: "/bin/sh",
    args: [
      "-c",
      START,
      bubblewrap,
      ...NAMESPACES,
      ...mounts.flatMap(({ words }) => words),
      ...(mounts.some(({ at }) => at === "/") ? [] : ["--remount-ro", "/"]),
      "--chdir",
      place,
      "--",
      "/bin/sh",
      "-c",
      RUN,
      tries,
      program.file,
      ...program.args,
    ],
    folder: program.folder,
    // Inherited, not passed as arguments, which every user of the machine can read.
    environment: { ...program.environment, ...IDENTITY },
    guard,
  };
}

/** What a program writes there is kept in memory. */
export const MEMORY_FOLDERS: readonly string[] = ["/tmp", "/dev"];

/** Undefined: the session is the owner's alone. */
async function controlOf(context: SandboxContext): Promise<GuardedControl | undefined> {
  if (context.agreed === undefined) return undefined;
  return { workspace: await realpath(context.workspace), folders: await controlledFolders(context) };
}

const USER_ID = "1000";
// `--unshare-all` treats the user namespace as optional. In a user namespace of its own, a program could detach the tree
// of mounts: what a read-only mount had held in its place could then be moved. It could also mount memory that nobody counts.
const NAMESPACES = (
  "--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --cap-drop ALL --hostname sandbox " +
  `--uid ${USER_ID} --gid ${USER_ID}`
).split(" ");

const IDENTITY = { HOME: "/tmp", TMPDIR: "/tmp", USER: "agent", LOGNAME: "agent" };

/** System files with generic content. */
const FILES = [
  { path: "/etc/passwd", text: `agent:x:${USER_ID}:${USER_ID}::/tmp:/bin/sh` },
  { path: "/etc/group", text: `agent:x:${USER_ID}:` },
  { path: "/etc/hosts", text: "127.0.0.1 localhost sandbox" },
  { path: "/etc/nsswitch.conf", text: "passwd: files\ngroup: files\nhosts: files" },
];

/** The first descriptor after the standard three. */
const FIRST_FILE = 3;

/** Runs outside: bubblewrap's own errors belong to the output. */
const START = [
  `exec 2>&1; exec "$0" "$@" ${FILES.map((_, index) => `${FIRST_FILE + index}<<'END'`).join(" ")}`,
  ...FILES.map(({ text }) => `${text}\nEND`),
].join("\n");

const LOOK_EVERY_MS = 50;

/**
 * Runs inside: when this shell exits, everything ends. So it waits briefly for processes left behind, such as a `tee` for
 * the program's output. Two processes always remain: bubblewrap's first one and this shell.
 */
const RUN = `"$@"; code=$?
while [ "$0" -gt "\${tries:=0}" ]; do
  set -- /proc/[0-9]*
  [ $# -le 2 ] && break
  sleep ${LOOK_EVERY_MS / 1000} 2>/dev/null
  tries=$((tries + 1))
done
exit $code`;

const READ_ONLY = ["/usr"];

/** Links into /usr on most systems, folders on others. */
const PROGRAMS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Needed by programs to start, to know the time zone and to check certificates. None can be a secret. */
const SETTINGS = [
  "alternatives",
  "ca-certificates",
  "crypto-policies",
  "fonts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "pki/ca-trust/extracted",
  "pki/tls/certs",
  "ssl/certs",
  "ssl/openssl.cnf",
].map((name) => `/etc/${name}`);

async function systemMounts(): Promise<Mount[]> {
  const programs = await Promise.all(PROGRAMS.map(async (at) => ({ at, target: await linkTarget(at) })));
  return [
    ...[...READ_ONLY, ...SETTINGS].map((at) => readOnly(at)),
    ...programs.map(({ at, target }) =>
      target === undefined ? readOnly(at) : { at, words: ["--symlink", target, at] },
    ),
    ...FILES.map(({ path }, index) => ({
      at: path,
      words: ["--ro-bind-data", String(FIRST_FILE + index), path],
    })),
    { at: "/tmp", isFresh: true, words: ["--tmpfs", "/tmp"] },
    { at: "/dev", isFresh: true, words: ["--dev", "/dev"] },
    { at: "/proc", isFresh: true, words: ["--proc", "/proc"] },
  ];
}

function readOnly(at: string): Mount {
  return { at, words: ["--ro-bind-try", at, at] };
}

/** Undefined: it is not a link, or does not exist. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (hasCode(error, "EINVAL", "ENOENT")) return undefined;
    throw error;
  }
}
