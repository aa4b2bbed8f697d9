import { activeProfile, type Config, profile as profileOf } from "../config/config.ts";
import { readConfig } from "../config/read.ts";
import { ACTIVE_PROFILE, type Profile } from "../model/profile.ts";
import type { Feature } from "../feature/feature.ts";
import type { Ledger } from "../store/store.ts";
import { chooseModel } from "../config/choose-model.ts";
import { windowOf } from "./backends.ts";
import { FEATURES } from "./features.ts";
import { createTools } from "./tools.ts";
import type { ContextInput } from "../insight/context-view.ts";

/** What there is to read of a home without a server: nothing is watched, and nothing written. */
export async function openContextSources({
  home,
  environment,
  ledger,
}: {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly ledger: Ledger;
}): Promise<ContextInput> {
  const loaded = await readConfig({ home, environment });
  const { config } = loaded;
  const active = activeProfile(config) ?? (await chooseModel(loaded.environment, fetch)).profile;
  const profile = (name: string): Profile => {
    if (name === ACTIVE_PROFILE) return active;
    return name === active.name ? active : profileOf(config, name);
  };
  return { ledger, home, config, profile, ...(await describeTurns(config)) };
}

/** What turns are given, whether a server runs or not. The tools are there to be described, not to be called. */
export async function describeTurns(
  config: Config,
  features: readonly Feature[] = FEATURES,
): Promise<Pick<ContextInput, "tools" | "window">> {
  const settings = { config: () => config, variable: () => undefined };
  const store = {
    outbox: { add: async () => {}, get: async () => undefined },
    sessions: { get: async () => undefined },
  };
  const tools = await createTools(
    { home: "", settings, store, agentFolders: undefined, channels: () => [], can: () => undefined },
    features,
    () => {
      throw new Error("This tool can only be described, not called");
    },
  );
  return { tools, window: windowOf };
}
