/**
 * Keeps a program from the rest of the machine, by means of bubblewrap.
 *
 * It sees the system's programs, read-only, the agent's own folders, and a `/tmp` of its own. It has no network, no
 * other processes, no capabilities (bubblewrap leaves root all of them, enough to make `/usr` writable again) and a
 * name of its own. Everything it starts ends with it, however it tries to get away: the namespace dies.
 */
import { readlink } from "node:fs/promises";

import type { ToolContext } from "../../model/tool.ts";
import { hasCode } from "../../model/error-code.ts";
import type { Mount } from "./sandbox-git.ts";
import { planMounts } from "./sandbox-mounts.ts";

/** What is started, and where. */
interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Files and folders that it reads, beside those of the system and of the agent. */
  readonly needs?: readonly string[];
}

interface Confined extends Program {
  /** To be disposed of when it has ended. */
  readonly guard?: AsyncDisposable;
}

type SandboxContext = Pick<
  ToolContext,
  "workspace" | "roots" | "outputFolder" | "readable" | "hidden" | "sandbox"
>;

/**
 * How to start a program so that it is in the sandbox; where there is none, as it is. Its exit code is the
 * program's; one that was ended by a signal has 128 more than the signal's number, as in a shell. Both outputs go
 * to the first. What it leaves in the background has `drainMs` to finish.
 */
export async function inSandbox(
  program: Program,
  context: SandboxContext,
  { drainMs }: { readonly drainMs: number },
): Promise<Confined> {
  if (context.sandbox === undefined) return program;
  const { bubblewrap, hidden = [], readOnly } = context.sandbox;
  const { mounts, place, guard } = await planMounts({
    writable: [context.workspace, ...context.roots],
    readable: [context.outputFolder, ...context.readable, ...(program.needs ?? [])],
    hidden: [...hidden, ...context.hidden],
    readOnly: (await readOnly?.()) ?? [],
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
    // Inherited, not given as arguments: those can be read by everybody on the machine.
    environment: { ...program.environment, ...IDENTITY },
    guard,
  };
}

const USER_ID = "1000";
// Of the namespaces, that of users is one that `--unshare-all` would do without.
const NAMESPACES = (
  "--unshare-all --unshare-user --die-with-parent --new-session --cap-drop ALL --hostname sandbox " +
  `--uid ${USER_ID} --gid ${USER_ID}`
).split(" ");

const IDENTITY = { HOME: "/tmp", TMPDIR: "/tmp", USER: "agent", LOGNAME: "agent" };

/** Files of the system that are not the machine's own. */
const FILES = [
  { path: "/etc/passwd", text: `agent:x:${USER_ID}:${USER_ID}::/tmp:/bin/sh` },
  { path: "/etc/group", text: `agent:x:${USER_ID}:` },
  { path: "/etc/hosts", text: "127.0.0.1 localhost sandbox" },
  { path: "/etc/nsswitch.conf", text: "passwd: files\ngroup: files\nhosts: files" },
];

/** The first descriptor after the three that every program has. */
const FIRST_FILE = 3;

/** Outside: what bubblewrap itself complains about belongs to the output. */
const START = [
  `exec 2>&1; exec "$0" "$@" ${FILES.map((_, index) => `${FIRST_FILE + index}<<'END'`).join(" ")}`,
  ...FILES.map(({ text }) => `${text}\nEND`),
].join("\n");

const LOOK_EVERY_MS = 50;

/**
 * Inside: with the end of this shell everything ends. So it waits a moment for what the program has left behind,
 * such as the `tee` that its output went through. Alone are the first process, which is bubblewrap's, and itself.
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

/** What programs need to start, to know the time and to check certificates. Nothing that could be a secret. */
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

/** Undefined: it is no link, or not there. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (hasCode(error, "EINVAL", "ENOENT")) return undefined;
    throw error;
  }
}
