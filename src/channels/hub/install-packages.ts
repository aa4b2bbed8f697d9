/** Installs optional packages of a channel where this Cortex finds them. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { MINUTE_MS } from "../../model/durations.ts";
import { hasCode } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import { ownFile } from "../../model/own-files.ts";
import { npmEnvironment, type Variables } from "../../programs/environment.ts";
import { runToEnd } from "../../programs/run-group.ts";
import { packageMissing } from "../channel.ts";

const INSTALL_MS = 10 * MINUTE_MS;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** The root of Cortex's own package. */
const ROOT = dirname(fileURLToPath(ownFile("package.json")));

/** Those that are not there. Node itself would remember that they were missing. */
export function missingPackages(specs: readonly string[] = [], root = ROOT): string[] {
  return specs.filter((spec) => !isInstalled(spec.replace(/(?<=.)@[^@/]*$/, ""), root));
}

function isInstalled(name: string, folder: string): boolean {
  if (existsSync(join(folder, "node_modules", name, "package.json"))) return true;
  const above = dirname(folder);
  return above !== folder && isInstalled(name, above);
}

export interface NpmCommand {
  readonly args: readonly string[];
  readonly folder: string;
}

/**
 * How npm installs them beside Cortex. In a project they are added to its package.json, so that they are there after the
 * next install, too. npm removes what a folder without a package.json has besides, so a global Cortex needs its own way.
 */
export function installCommand(specs: readonly string[], root = ROOT): NpmCommand {
  const modules = dirname(root.replace(/\/$/, ""));
  if (basename(modules) !== "node_modules") return { args: ["install", "--no-save", ...specs], folder: root };
  const folder = dirname(modules);
  if (existsSync(join(folder, "package.json"))) return { args: ["install", ...specs], folder };
  const prefix = basename(folder) === "lib" ? dirname(folder) : folder;
  return { args: ["install", "--global", "--prefix", prefix, ...specs], folder };
}

/** As typed in a shell. */
export function describeCommand({ args, folder }: NpmCommand): string {
  return `(cd '${folder}' && npm ${args.join(" ")})`;
}

/** Throws `package_missing` with npm's words where it fails. */
export async function installPackages(
  specs: readonly string[],
  environment: Variables,
  signal: AbortSignal,
): Promise<void> {
  const { args, folder } = installCommand(specs);
  try {
    const { exitCode, errors } = await runToEnd({
      file: "npm",
      args: [...args, "--no-audit", "--no-fund", "--no-update-notifier"],
      environment: npmEnvironment(environment),
      folder,
      timeoutMs: INSTALL_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal,
    });
    if (exitCode !== 0) throw installFailed(specs, errors);
  } catch (error) {
    if (!hasCode(error, "ENOENT", "EACCES")) throw error;
    throw packageMissing(specs.join(" "), error);
  }
}

function installFailed(specs: readonly string[], said: string): CortexError {
  const line = said.split("\n").find((each) => /^npm (error|ERR!) \S/.test(each)) ?? said.trim();
  return new CortexError("package_missing", `npm could not install ${specs.join(" ")}: ${line}`, {
    hint: `Run \`${describeCommand(installCommand(specs))}\` yourself.`,
  });
}
