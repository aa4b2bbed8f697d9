/** The server of a home, and where it is. */
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

/** The server that runs on this home. A note that a dead process left behind counts as none. */
export async function findServer(home: string): Promise<RunningServer | undefined> {
  try {
    const note = readPrivate(serverNotePath(home));
    const server = JSON.parse(note) as Omit<RunningServer, "home" | "token"> | null;
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

/** One that was deleted is made anew by the server when it is asked for anything. */
async function readToken(home: string, url: string): Promise<string> {
  const read = (): string => readPrivate(tokenPath(home)).trim();
  try {
    return read();
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    await fetch(`${url}/api/sessions`).catch(() => {}); // nobody listens there: then there is still no token
    return read();
  }
}

/** Throws `server_missing` where none runs. */
export async function needServer(home: string): Promise<RunningServer> {
  const server = await findServer(home);
  if (server === undefined) throw serverMissing(home);
  return server;
}

export function serverMissing(home: string): CortexError {
  return new CortexError("server_missing", `No server runs on ${home}`, { hint: howToStart(home) });
}

export function serverGone(home: string, cause: unknown): CortexError {
  return new CortexError("server_missing", `The server on ${home} does not answer`, {
    hint: `What it has accepted is kept. ${howToStart(home)}`,
    cause,
  });
}

function howToStart(home: string): string {
  return `Start one with \`cortex up${home === findHome({}) ? "" : ` --home ${home}`}\`.`;
}
