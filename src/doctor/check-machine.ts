/** Checks Node, the home and its permissions, free disk space, and the port. */
import { once } from "node:events";
import { closeSync } from "node:fs";
import { access, constants, readFile, realpath, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";

import { codeOf } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { openPrivate } from "../model/private-file.ts";
import { changeMode } from "../feature/changes.ts";
import { type Check, ok, refusal, refusalBy, warn } from "../feature/check.ts";
import { LARGE_WAL_BYTES, LOW_DISK_BYTES } from "../insight/health.ts";
import { chatHistoryPath, databasePath, logFolder, refuseFile, tokenPath } from "../config/home.ts";
import { openElsewhere } from "../programs/open-elsewhere.ts";
import { readVitals } from "../insight/measure.ts";

/** As in package.json. */
const LEAST_NODE = 24;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

export async function checkMachine(home: string, nodeVersion: string): Promise<Check[]> {
  try {
    refuseFile(home);
  } catch (error) {
    return [checkNode(nodeVersion), refusalBy("home", error)];
  }
  const mode = await modeOf(home);
  if (mode === undefined)
    return [checkNode(nodeVersion), ok("home", `${home} does not exist yet; \`cortex up\` creates it`)];
  const [writable, disk, ...secrets] = await Promise.all([
    checkWritable(home),
    checkDisk(home),
    checkSecret("token", tokenPath(home)),
    checkSecret(".env", join(home, "config", ".env")),
    checkPrivate("data", dirname(databasePath(home))),
    checkPrivate("history", chatHistoryPath(home)),
    checkPrivate("logs", logFolder(home)),
  ]);
  const isOpen = (mode & OTHERS) !== 0;
  return [
    checkNode(nodeVersion),
    isOpen && writable.state === "ok"
      ? warn(
          "home",
          `Other users can ${(mode & OTHERS_WRITE) === 0 ? "read" : "write to"} ${home}`,
          `Run \`chmod go-rwx ${quoted(home)}\`.`,
          changeMode(home, mode, { without: OTHERS }),
        )
      : writable,
    ...secrets.flat(),
    ...disk,
  ];
}

function checkNode(version: string): Check {
  const major = Number.parseInt(version, 10);
  if (major >= LEAST_NODE) return ok("node", version);
  return refusal("node", `Unsupported Node ${version}`, `Cortex needs Node ${LEAST_NODE} or newer.`);
}

async function checkWritable(home: string): Promise<Check> {
  for (const folder of [home, dirname(databasePath(home))]) {
    try {
      await access(folder, constants.W_OK);
    } catch (error) {
      const code = codeOf(error);
      if (code !== "ENOENT")
        return refusal("home", `Cannot write to ${folder} (${code})`, "Check its owner and permissions.");
    }
  }
  return ok("home", home);
}

/** Reports a link, or a file of another user. */
async function checkSecret(name: string, path: string): Promise<Check[]> {
  try {
    closeSync(openPrivate(path));
  } catch (error) {
    if (error instanceof CortexError) return [refusalBy(name, error)];
  }
  return checkPrivate(name, path);
}

/** Secrets and conversations must be readable only by their owner. */
async function checkPrivate(name: string, path: string): Promise<Check[]> {
  const mode = await modeOf(path);
  if (mode === undefined) return [];
  if ((mode & OTHERS) === 0) return [ok(name, "readable only by its owner")];
  return [
    warn(
      name,
      `Other users can read ${path}`,
      `Run \`chmod go-rwx ${quoted(path)}\`.`,
      changeMode(path, mode, { without: OTHERS }),
    ),
  ];
}

/** SQLite restarts its log only when no reader needs the old part: a reader that never stops lets it grow. */
export async function checkDisk(home: string, largeWalBytes = LARGE_WAL_BYTES): Promise<Check[]> {
  const { freeBytes, databaseBytes, walBytes } = (await readVitals(home)).disk;
  const message = `${mebibytes(freeBytes)} free; database ${mebibytes(databaseBytes)}`;
  return [
    freeBytes >= LOW_DISK_BYTES
      ? ok("disk", message)
      : warn("disk", message, "Free up space; on a full disk, Cortex rejects new work."),
    ...(walBytes <= largeWalBytes ? [] : [await checkWal(home, walBytes)]),
  ];
}

async function checkWal(home: string, walBytes: number): Promise<Check> {
  const path = await realpath(databasePath(home));
  const server = await readFile(`${path}.lock`, "utf8").then(pidOf, () => []);
  const readers = await openElsewhere(path, [...server, process.pid]);
  const who = readers.length === 0 ? "" : `; the database is also open in ${readers.join(", ")}`;
  return warn(
    "wal",
    `The write-ahead log of the database has grown to ${mebibytes(walBytes)}${who}`,
    `A long-running reader keeps it from shrinking. Stop that program; \`lsof ${quoted(path)}\` lists all that have it open.`,
  );
}

function pidOf(note: string): number[] {
  try {
    const { pid }: { readonly pid: number } = JSON.parse(note);
    return [pid];
  } catch {
    return []; // truncated by a crash
  }
}

/** Listens there for a moment. Call it only if no server is running. */
export async function checkPort({ host, port }: { host: string; port: number }): Promise<Check> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const server = createServer();
  try {
    const listening = once(server, "listening");
    server.listen({ host, port, exclusive: true });
    await listening;
    server.close();
    return ok("port", port === 0 ? "any free port" : `${address} is free`);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EADDRINUSE")
      return refusal(
        "port",
        `Port in use by another process: ${address}`,
        "Stop it, or set `server.port` in cortex.json.",
      );
    return refusal(
      "port",
      `Cannot listen on ${address} (${code})`,
      "Check `server.host` and `server.port` in cortex.json.",
    );
  }
}

async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Quotes a path for a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1_024 ** 2)} MiB`;
}
