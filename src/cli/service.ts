/** Cortex as a user service: started at login, restarted on failure. */
import { realpathSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, sep } from "node:path";

import { hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { findHome } from "../config/home.ts";
import type { Invocation } from "../feature/command.ts";
import { findServer } from "../client/server.ts";
import { MARK, type ServiceFile, serviceFile, type ServiceDefinition } from "./service-file.ts";
import {
  asLine,
  type Manager,
  managerOf,
  type ManagerOutcome,
  runAll,
  runManagerCommand,
} from "./service-manager.ts";
import { table } from "../terminal/text.ts";

export async function installService(given: Invocation): Promise<void | false> {
  const { print, environment, home } = given;
  refuseNpxCache(programPath());
  const { file, manager } = describeService(given);
  const before = await readOurs(file);
  const isNew = before !== file.content;
  if (given.options["dryRun"] === true) {
    const commands = manager.start.map(asLine);
    return print.data({ ...file, isNew, commands }, () =>
      [`${isNew ? "Would write" : "Up to date:"} ${file.path}`, "", file.content, ...commands].join("\n"),
    );
  }
  const server = await findServer(home);
  const outcome = await runAll([manager.look], environment);
  if (!isNew && outcome.kind === "done")
    return print.data({ ...file, isNew, outcome }, () => `Already installed and running: ${file.path}`);
  if (server !== undefined && outcome.kind !== "done") throw serverInTheWay(server.pid, home);
  if (isNew) await writeWhole(file);
  if (outcome.kind === "done") await runAll(manager.stop, environment); // launchd does not restart a running service
  const started = await runAll(manager.start, environment);
  print.data({ ...file, isNew, outcome: started }, () =>
    [
      `${isNew ? "Wrote" : "Kept"} ${file.path}`,
      `The service does not see the variables of this shell; put API keys into ${home}/config/.env.`,
      ...afterStart(started, manager).map(print.advice),
    ].join("\n"),
  );
  if (started.kind === "failed") return false;
}

export async function uninstallService(given: Invocation): Promise<void | false> {
  const { print, environment } = given;
  const { file, manager } = describeService(given);
  const isThere = (await readOurs(file)) !== undefined;
  if (given.options["dryRun"] === true) {
    const commands = [...manager.stop, ...manager.forget].map(asLine);
    return print.data({ ...file, isThere, commands }, () =>
      isThere
        ? [`Would remove ${file.path}`, ...commands].join("\n")
        : `Not installed: ${file.path} does not exist`,
    );
  }
  if (!isThere) return print.data({ ...file, isThere }, () => `Not installed: ${file.path} does not exist`);
  const stopped = await runAll(manager.stop, environment);
  await rm(file.path, { force: true });
  await runAll(manager.forget, environment);
  print.data({ ...file, isThere, outcome: stopped }, () =>
    [
      `Removed ${file.path}`,
      ...(stopped.kind === "failed" ? [`Could not stop the service: ${stopped.why}`] : []),
    ].join("\n"),
  );
  if (stopped.kind === "failed") return false;
}

export async function showServiceStatus(given: Invocation): Promise<void> {
  const { print, environment, home } = given;
  const { file, manager } = describeService(given);
  const [content, look, server] = await Promise.all([
    readOurs(file),
    runManagerCommand(manager.look, environment),
    findServer(home),
  ]);
  const installed = content === undefined ? "no" : content === file.content ? "yes" : "outdated";
  const state = look.kind === "absent" ? "unknown" : look.kind === "done" ? "running" : "stopped";
  const { name, path } = file;
  print.data({ name, path, installed, state, server: server?.pid ?? null }, () =>
    table([
      ["service", print.advice(`${name}, ${INSTALLED[installed]}`)],
      ["file", path],
      ["state", look.kind === "absent" ? `unknown: ${look.why}` : state],
      ["server", server === undefined ? "not running on this home" : `process ${server.pid}`],
    ]),
  );
}

const INSTALLED = {
  no: "not installed; run `cortex service install`",
  yes: "installed",
  outdated: "outdated (other version or folders); run `cortex service install` to update it",
} as const;

function describeService({ home, environment }: Invocation): { file: ServiceFile; manager: Manager } {
  const platform = supported(process.platform);
  const file = serviceFile({
    platform,
    home,
    isDefaultHome: home === findHome({}),
    userFolder: environment["HOME"] ?? homedir(),
    configFolder: environment["XDG_CONFIG_HOME"] || undefined,
    program: [process.execPath, programPath()],
    path: withoutNpm(environment["PATH"] ?? ""),
  });
  return { file, manager: managerOf(file, { platform, userId: process.getuid?.() ?? 0 }) };
}

const OF_NPM = /\/(?:node_modules\/\.bin|node-gyp-bin)$/;

/** npx and `npm run` add folders to the PATH for a single command only. */
function withoutNpm(path: string): string {
  return path
    .split(delimiter)
    .filter((folder) => !OF_NPM.test(folder))
    .join(delimiter);
}

/** In a clone, npx calls the program through a link. */
function programPath(): string {
  return realpathSync(process.argv[1] ?? "");
}

/** npx deletes its cached packages at some point. */
function refuseNpxCache(program: string): void {
  if (!program.split(sep).includes("_npx")) return;
  throw new CortexError("usage", `${program} is in the npx cache, which may be cleared`, {
    hint: "Run `npm install --global cortexd`, then `cortex service install`.",
  });
}

function supported(platform: string): ServiceDefinition["platform"] {
  if (platform === "linux" || platform === "darwin") return platform;
  throw new CortexError("usage", `Services are not supported on ${platform}`, {
    hint: "Supported: Linux (systemd) and macOS (launchd). `cortex up` works anywhere.",
  });
}

/** Undefined: no file. Throws `state_conflict` for a file that we did not write. */
async function readOurs({ path }: ServiceFile): Promise<string | undefined> {
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw unwritable(path, error);
  }
  if (content.includes(MARK)) return content;
  throw new CortexError("state_conflict", `${path} was not written by Cortex`, {
    hint: "If you do not need it, move it away, then retry.",
  });
}

/** Writes a draft and renames it, so that the manager never reads half a file. */
async function writeWhole({ path, content }: ServiceFile): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(draft, content, { mode: 0o644 });
    await rename(draft, path);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

function unwritable(path: string, cause: unknown): CortexError {
  return new CortexError("home_unwritable", `Cannot read or write ${path}`, {
    hint: "Check the permissions of the file and its folder.",
    cause,
  });
}

function serverInTheWay(pid: number, home: string): CortexError {
  return new CortexError("state_conflict", `Process ${pid} is already serving ${home}`, {
    hint: `Stop it with \`kill ${pid}\` first, so that the service can take over. Nothing is lost.`,
  });
}

function afterStart(outcome: ManagerOutcome, { start }: Manager): string[] {
  switch (outcome.kind) {
    case "done":
      return [
        "Running, and starts at each login. `cortex status` shows its health.",
        ...(process.platform === "linux" ? ["To run it without a login: `loginctl enable-linger`."] : []),
      ];
    case "absent":
      return [`Not started: ${outcome.why}. To start it later:`, ...start.map((line) => `  ${asLine(line)}`)];
    case "failed":
      return [`Not started: ${outcome.why}`, "`cortex doctor` may show the cause."];
  }
}
