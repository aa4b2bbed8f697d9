/** Finds the server of a home. */
import { codeOf, hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { readPrivate } from "../model/private-file.ts";
import { findHome, serverNotePath, tokenPath } from "../config/home.ts";
import { isAlive } from "../programs/is-alive.ts";

export interface RunningServer {
  readonly home: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

/** The running server of this home. Ignores the note of a dead process. */
export async function findServer(home: string): Promise<RunningServer | undefined> {
  try {
    const note = readPrivate(serverNotePath(home));
    const server: Omit<RunningServer, "home" | "token"> | null = JSON.parse(note);
    if (server === null || !isAlive(server.pid)) return undefined;
    return { ...server, home, token: await readToken(home, urlOf(server)) };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function urlOf({ host, port }: Pick<RunningServer, "host" | "port">): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A server recreates a deleted token on the next request. */
async function readToken(home: string, url: string): Promise<string> {
  const read = (): string => readPrivate(tokenPath(home)).trim();
  try {
    return read();
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    await fetch(`${url}/api/sessions`).catch(() => {}); // not listening: then the token stays missing
    return read();
  }
}

/** Throws `server_missing` if none is running. */
export async function needServer(home: string): Promise<RunningServer> {
  const server = await findServer(home);
  if (server === undefined) throw serverMissing(home);
  return server;
}

export function serverMissing(home: string): CortexError {
  return new CortexError("server_missing", `No server is running on ${home}`, { hint: howToStart(home) });
}

export function serverGone(home: string, cause: unknown): CortexError {
  return new CortexError("server_missing", `The server on ${home} is not responding`, {
    hint: `Accepted messages are not lost. ${howToStart(home)}`,
    cause,
  });
}

function howToStart(home: string): string {
  return `Start one with \`cortex up${home === findHome({}) ? "" : ` --home ${home}`}\`.`;
}
