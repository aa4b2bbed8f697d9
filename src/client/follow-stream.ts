import { setTimeout as wait } from "node:timers/promises";

import type { Json } from "../model/json.ts";
import { isConnectionLost, listen } from "./ask.ts";
import { findServer, needServer, serverMissing } from "./server.ts";

export type SessionEvent = { readonly type: string } & { readonly [field: string]: Json | undefined };

type Followed =
  | { readonly kind: "open" }
  | { readonly kind: "event"; readonly event: SessionEvent }
  | { readonly kind: "lost" };

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** Enough for a server to restart. */
const GIVE_UP_MS = 5 * 60_000;

/**
 * Streams the events of a session. After a lost connection it reconnects, also to a server restarted on another port, and
 * continues after the last change seen.
 */
export async function* followStream(
  home: string,
  session: string,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  const path = `/api/stream?session=${encodeURIComponent(session)}`;
  let seen: string | undefined;
  let server = await needServer(home);
  for (;;) {
    const headers = seen === undefined ? {} : { "last-event-id": seen };
    try {
      const events = await listen(server, { path, headers, signal });
      yield { kind: "open" };
      for await (const { id, data } of events) {
        seen = id ?? seen;
        if (data !== undefined) yield { kind: "event", event: parseEvent(data) };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isConnectionLost(error)) throw error;
    }
    if (signal.aborted) return;
    yield { kind: "lost" };
    const again = await findAgain(home, signal);
    if (again === undefined) return;
    server = again;
  }
}

function parseEvent(data: string): SessionEvent {
  return JSON.parse(data);
}

/** Undefined: aborted. */
async function findAgain(home: string, signal: AbortSignal): ReturnType<typeof findServer> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS; waitedMs += pauseMs) {
    await wait(pauseMs, undefined, { signal }).catch(() => {}); // checked on the next line
    if (signal.aborted) return undefined;
    const server = await findServer(home);
    if (server !== undefined) return server;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
  throw serverMissing(home);
}
