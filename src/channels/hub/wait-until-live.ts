import { setTimeout as pause } from "node:timers/promises";

import { ask } from "../../client/ask.ts";
import { findServer } from "../../client/server.ts";
import { CortexError } from "../../model/errors.ts";
import type { ChannelView } from "./views.ts";

export type Connected =
  | { readonly kind: "live"; readonly state: "live" }
  | { readonly kind: "down"; readonly state: string; readonly error: string | null }
  | { readonly kind: "no-server" };

/** How long a channel may take to connect. */
const LIVE_MS = 30_000;
const LOOK_EVERY_MS = 200;
/** No further attempt helps. */
const SETTLED: ReadonlySet<string> = new Set(["live", "refused", "conflict"]);

/** Has the server read the files and connect the account, and waits until it is live or cannot be. */
export async function waitUntilLive(
  home: string,
  { channel, account }: { readonly channel: string; readonly account: string },
  signal: AbortSignal,
): Promise<Connected> {
  const server = await findServer(home);
  if (server === undefined) return { kind: "no-server" };
  const query = `?account=${encodeURIComponent(account)}`;
  const path = `/api/channels/${encodeURIComponent(channel)}/reconnect${query}`;
  let body: { readonly items: readonly ChannelView[] };
  try {
    ({ body } = await ask<typeof body>(server, { method: "POST", path }));
  } catch (error) {
    if (!(error instanceof CortexError) || error.code !== "channel_unknown") throw error;
    return {
      kind: "down",
      state: "off",
      error: "The server does not connect it. Check `enabled` in cortex.json.",
    };
  }
  for (const deadlineMs = Date.now() + LIVE_MS; ;) {
    const view = body.items.find((each) => each.name === channel && each.account === account);
    const state = view?.state ?? "off";
    if (state === "live") return { kind: "live", state };
    if (SETTLED.has(state) || signal.aborted || Date.now() > deadlineMs)
      return { kind: "down", state, error: view?.error ?? null };
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {}); // aborted
    ({ body } = await ask<typeof body>(server, { path: "/api/channels" }));
  }
}
