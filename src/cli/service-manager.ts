/** The commands of systemd and launchd that start, stop and query a service, and their outcomes. */

import { serviceEnvironment } from "../programs/environment.ts";
import { type RunEnd, runToEnd } from "../programs/run-group.ts";
import type { ServiceFile, ServiceDefinition } from "./service-file.ts";

type Command = readonly [program: string, ...args: string[]];

export interface Manager {
  /** Load the file; start the service now and at each login. */
  readonly start: readonly Command[];
  readonly stop: readonly Command[];
  /** After the file was removed. */
  readonly forget: readonly Command[];
  /** Succeeds if the service is running. */
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

export type ManagerOutcome =
  | { readonly kind: "done" }
  /** The program is missing, or this user has no session that it could connect to. */
  | { readonly kind: "absent"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

/** Starting the service may take a while. */
const TIMEOUT_MS = 60_000;
/** systemd without a user session, as in a container or with `su`. */
const NO_SESSION = /Failed to connect to (user scope )?bus|not been booted with systemd|No medium found/;

/** Runs commands in order until one fails. */
export async function runAll(
  commands: readonly Command[],
  environment: NodeJS.ProcessEnv,
): Promise<ManagerOutcome> {
  for (const command of commands) {
    const outcome = await runManagerCommand(command, environment);
    if (outcome.kind !== "done") return outcome;
  }
  return { kind: "done" };
}

export async function runManagerCommand(
  [program, ...args]: Command,
  environment: NodeJS.ProcessEnv,
): Promise<ManagerOutcome> {
  let end: RunEnd;
  try {
    const given = { file: program, args, environment: serviceEnvironment(environment) };
    end = await runToEnd({ ...given, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (isAbsent) return { kind: "absent", why: `${program} is not installed` };
    return { kind: "failed", why: `${program}: ${String(error)}` };
  }
  if (end.exitCode === 0) return { kind: "done" };
  const why = end.errors.trim().split("\n")[0] || `exit code ${end.exitCode ?? end.signal}`;
  return { kind: NO_SESSION.test(why) ? "absent" : "failed", why: `${program}: ${why}` };
}

export function asLine(command: Command): string {
  return command
    .map((word) => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
