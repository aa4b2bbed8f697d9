/** Asks npm's registry whether vulnerabilities of the dependencies are known: `cortex doctor --dependencies`. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Check, fail, ok, warn } from "../feature/check.ts";
import { hasCode } from "../model/error-code.ts";
import { ownFile } from "../model/own-files.ts";
import { npmEnvironment, type Variables } from "../programs/environment.ts";
import { runToEnd } from "../programs/run-group.ts";
import { type Advisory, type Audit, readAudit } from "./read-audit.ts";

const AUDIT_TIMEOUT_MS = 60_000;
export const MAX_AUDIT_BYTES = 16 * 1024 * 1024;

const NAME = "dependencies";

interface DependencyCheck {
  readonly environment: Variables;
  readonly timeoutMs?: number;
}

/** Never fails because the registry does not answer: then nothing is known. */
export async function checkDependencies({
  environment,
  timeoutMs = AUDIT_TIMEOUT_MS,
}: DependencyCheck): Promise<Check[]> {
  const installed = await readInstalled();
  const audit = await askNpm(installed, environment, timeoutMs);
  if (audit.kind === "unanswered")
    return [
      warn(
        NAME,
        `${installed.length} dependencies were not checked: ${audit.why}`,
        "The check needs npm and a registry that answers `npm audit`. Try again when it is reachable.",
      ),
    ];
  const { advisories, left } = audit;
  if (advisories.length === 0)
    return [ok(NAME, `no known vulnerabilities in ${installed.length} dependencies`)];
  return [...advisories.map(checkOf), ...(left > 0 ? [warn(NAME, `${left} more advisories`, UPDATE)] : [])];
}

const UPDATE = "Update Cortex. If you run the latest version, report it.";

function checkOf({ package: name, severity, title, range }: Advisory): Check {
  const message = `${name} ${range}: ${title} (${severity})`;
  return (severity === "critical" || severity === "high" ? fail : warn)(NAME, message, UPDATE);
}

interface Installed {
  readonly name: string;
  readonly version: string;
}

/** From the lock file of a checkout, or from the list in the package. */
async function readInstalled(): Promise<readonly Installed[]> {
  try {
    const lock = await readJson("package-lock.json");
    const { packages } = lock as {
      packages: Record<string, Installed & { dev?: boolean; devOptional?: boolean }>;
    };
    return Object.entries(packages).flatMap(([path, { name, version, dev, devOptional }]) =>
      path === "" || dev === true || devOptional === true
        ? []
        : [{ name: name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length), version }],
    );
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    return ((await readJson("dist/sbom.json")) as { components: readonly Installed[] }).components;
  }
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(ownFile(path), "utf8"));
}

/** In an empty folder, so that no setting or file of another project counts. */
async function askNpm(
  installed: readonly Installed[],
  environment: Variables,
  timeoutMs: number,
): Promise<Audit> {
  const folder = await mkdtemp(join(tmpdir(), "cortex-audit-"));
  try {
    // Several versions of one package stand beside each other under names of their own.
    const places = installed.map(({ name, version }, at) => [`d${at}`, { name, version }] as const);
    const dependencies = Object.fromEntries(
      places.map(([place, { name, version }]) => [place, `npm:${name}@${version}`]),
    );
    const root = { name: "audit", version: "0.0.0", dependencies };
    const packages = {
      "": root,
      ...Object.fromEntries(places.map(([place, each]) => [`node_modules/${place}`, each])),
    };
    await writeFile(join(folder, "package.json"), JSON.stringify(root));
    await writeFile(
      join(folder, "package-lock.json"),
      JSON.stringify({ ...root, lockfileVersion: 3, packages }),
    );
    const { output, stopped, hasTooMuchOutput } = await runToEnd({
      file: "npm",
      args: [
        "audit",
        "--json",
        "--package-lock-only",
        "--fetch-retries=0",
        "--no-update-notifier",
        "--logs-max=0",
      ],
      environment: npmEnvironment(environment),
      folder,
      timeoutMs,
      maxOutputBytes: MAX_AUDIT_BYTES,
    });
    if (stopped === "timeout")
      return { kind: "unanswered", why: `no registry answered within ${timeoutMs / 1_000} s` };
    if (hasTooMuchOutput) return { kind: "unanswered", why: `npm wrote more than ${MAX_AUDIT_BYTES} bytes` };
    return readAudit(output.toString("utf8"));
  } catch (error) {
    if (!hasCode(error, "ENOENT", "EACCES")) throw error;
    return { kind: "unanswered", why: "npm is not installed" };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
