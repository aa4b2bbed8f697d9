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
/** A server that is restarted is back by then. */
const GIVE_UP_MS = 5 * 60_000;

/**
 * Reads along what happens in a session, and goes on after a loss of connection with what came after the
 * last change that was seen. Also a server that was started anew, on another port, is found again.
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
        if (data !== undefined) yield { kind: "event", event: JSON.parse(data) as SessionEvent };
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

/** Undefined: the signal came first. */
async function findAgain(home: string, signal: AbortSignal): ReturnType<typeof findServer> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS; waitedMs += pauseMs) {
    await wait(pauseMs, undefined, { signal }).catch(() => {}); // looked at in the next line
    if (signal.aborted) return undefined;
    const server = await findServer(home);
    if (server !== undefined) return server;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
  throw serverMissing(home);
}
