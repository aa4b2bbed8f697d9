import { setTimeout as sleep } from "node:timers/promises";

import type { Agent } from "../agents/agent.ts";
import { createLoopAgent } from "../agents/loop.ts";
import type { Profile } from "../model/profile.ts";
import type { Settings } from "../config/settings.ts";
import type { Ports } from "../feature/ports.ts";
import type { SessionKey } from "../model/session-key.ts";
import { searchLedger } from "../search/search.ts";
import { outsideAudience } from "../turns/audience.ts";

/** The offline model recognises its own answers by how they end, so it gets whole texts. */
const QUOTED_LENGTH = 20_000;
/** Lower scores come from words that occur nearly everywhere. */
const WORTH_QUOTING = 0.1;

/** Opens each backend with the first turn that needs it: most homes never use most of what they load. */
export function createBackends({
  store,
  clock,
  mintId,
  settings,
}: Pick<Ports, "store" | "clock" | "mintId"> & {
  readonly settings: Pick<Settings, "variable">;
}): (profile: Profile) => Promise<Agent> {
  const search = async (text: string, limit: number, session: SessionKey) => {
    const options = { limit, textLength: QUOTED_LENGTH, minScore: WORTH_QUOTING };
    return searchLedger(store, text, { ...options, audience: await audienceOfSession(session, store) });
  };
  const open = {
    async pi(): Promise<Agent> {
      const { createPiModel } = await import("../agents/pi/pi-model.ts");
      return createLoopAgent({
        model: createPiModel({ environment: settings.variable, clock }),
        clock,
        mintId,
      });
    },
    async offline(): Promise<Agent> {
      const { createOfflineModel } = await import("../agents/offline/offline-model.ts");
      return createLoopAgent({ model: createOfflineModel({ search, delay }), clock, mintId });
    },
  };
  const opened: Partial<Record<Profile["backend"], Promise<Agent>>> = {};
  return ({ backend }) => (opened[backend] ??= open[backend]());
}

/** Whom the running turn of a session speaks to. Undefined: the owner. */
async function audienceOfSession(
  key: SessionKey,
  { sessions, runs, queue }: Pick<Ports["store"], "sessions" | "runs" | "queue">,
): Promise<string | undefined> {
  const run = (await sessions.get(key))?.run;
  const running = run === undefined ? undefined : await runs.get(run);
  return running === undefined ? undefined : outsideAudience(await queue.itemsOf(running.turn));
}

/** An abort ends a delay early, without failing. */
async function delay(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/** The context window of a profile's model, in tokens. Undefined: unknown, or the profile is incomplete. */
export async function windowOf(profile: Profile): Promise<number | undefined> {
  try {
    switch (profile.backend) {
      case "pi":
        return await (await import("../agents/pi/provider.ts")).modelWindow(profile);
      case "offline":
        return (await import("../agents/offline/offline-model.ts")).offlineWindow(profile);
    }
  } catch {
    return undefined; // asking the model reports what is wrong with the profile
  }
}
