import { setTimeout as sleep } from "node:timers/promises";

import type { Agent } from "../agents/agent.ts";
import { createLoopAgent } from "../agents/loop.ts";
import type { Profile } from "../model/profile.ts";
import { searchLedger } from "../search/search.ts";
import type { Store } from "../store/store.ts";

interface BackendParts {
  readonly store: Store;
  readonly clock: () => number;
  readonly mintId: () => string;
  readonly environment: (name: string) => string | undefined;
}

/** The offline model tells its own answers by how they end, so it is given whole texts. */
const QUOTED_LENGTH = 20_000;
/** Less than this is a word of the many that nearly everything holds. */
const WORTH_QUOTING = 0.1;

/** Opens backends when the first turn needs them: most of what they load is never used by most people. */
export function createBackends(parts: BackendParts): (profile: Profile) => Promise<Agent> {
  const { store, clock, mintId } = parts;
  const search = (text: string, limit: number) =>
    searchLedger(store, text, { limit, textLength: QUOTED_LENGTH, minScore: WORTH_QUOTING });
  const open = {
    async pi(): Promise<Agent> {
      const { createPiModel } = await import("../agents/pi/pi-model.ts");
      return createLoopAgent({ model: createPiModel(parts), clock, mintId });
    },
    async offline(): Promise<Agent> {
      const { createOfflineModel } = await import("../agents/offline/offline-model.ts");
      return createLoopAgent({ model: createOfflineModel({ search, delay }), clock, mintId });
    },
  };
  const opened: Partial<Record<Profile["backend"], Promise<Agent>>> = {};
  return ({ backend }) => (opened[backend] ??= open[backend]());
}

/** An abort ends a delay early; it is no failure. */
async function delay(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/** How many tokens the model of a profile takes. Undefined: nobody knows, or the profile lacks something. */
export async function windowOf(profile: Profile): Promise<number | undefined> {
  try {
    switch (profile.backend) {
      case "pi":
        return await (await import("../agents/pi/provider.ts")).modelWindow(profile);
      case "offline":
        return (await import("../agents/offline/offline-model.ts")).offlineWindow(profile);
    }
  } catch {
    return undefined; // whoever asks the model is told what is wrong with the profile
  }
}
