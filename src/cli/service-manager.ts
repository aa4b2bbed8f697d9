/** systemd and launchd as they are asked: which commands start, stop and look at a service, and how they end. */

import { serviceEnvironment } from "../programs/environment.ts";
import { type RunEnd, runToEnd } from "../programs/run-group.ts";
import type { ServiceFile, ServiceDefinition } from "./service-file.ts";

type Command = readonly [program: string, ...args: string[]];

export interface Manager {
  /** Have the file read, and the service started now and at each login. */
  readonly start: readonly Command[];
  readonly stop: readonly Command[];
  /** After the file is gone. */
  readonly forget: readonly Command[];
  /** Succeeds where the service runs. */
  readonly look: Command;
}

export function managerOf(
  { name, path }: ServiceFile,
  { platform, userId }: Pick<ServiceDefinition, "platform"> & { userId: number },
): Manager {
  switch (platform) {
    case "linux":
      return {
        start: [systemctl("daemon-reload"), systemctl("enable", name), systemctl("restart", name)],
        stop: [systemctl("disable", "--now", name)],
        forget: [systemctl("daemon-reload")],
        look: systemctl("is-active", "--quiet", name),
      };
    case "darwin":
      return {
        start: [["launchctl", "bootstrap", `gui/${userId}`, path]],
        stop: [["launchctl", "bootout", `gui/${userId}/${name}`]],
        forget: [],
        look: ["launchctl", "print", `gui/${userId}/${name}`],
      };
  }
}

function systemctl(...args: string[]): Command {
  return ["systemctl", "--user", ...args];
}

export type Outcome =
  | { readonly kind: "done" }
  /** The program is not there, or there is no session of this user that it could talk to. */
  | { readonly kind: "absent"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

/** A manager that is busy starting what we asked for takes a while. */
const TIMEOUT_MS = 60_000;
/** systemd without a session of this user, as in a container or over `su`. */
const NO_SESSION = /Failed to connect to (user scope )?bus|not been booted with systemd|No medium found/;

/** One after the other, until one fails. */
export async function runAll(commands: readonly Command[], environment: NodeJS.ProcessEnv): Promise<Outcome> {
  for (const command of commands) {
    const outcome = await run(command, environment);
    if (outcome.kind !== "done") return outcome;
  }
  return { kind: "done" };
}

export async function run([program, ...args]: Command, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  let end: RunEnd;
  try {
    const given = { file: program, args, environment: serviceEnvironment(environment) };
    end = await runToEnd({ ...given, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (isAbsent) return { kind: "absent", why: `${program} is not there` };
    return { kind: "failed", why: `${program}: ${String(error)}` };
  }
  if (end.exitCode === 0) return { kind: "done" };
  const why = end.errors.trim().split("\n")[0] || `it ended with ${end.exitCode ?? end.signal}`;
  return { kind: NO_SESSION.test(why) ? "absent" : "failed", why: `${program}: ${why}` };
}

export function asLine(command: Command): string {
  return command
    .map((word) => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
