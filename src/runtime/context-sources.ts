import { activeProfile, type Config, profile as profileOf } from "../config/config.ts";
import { readConfig } from "../config/read.ts";
import { ACTIVE_PROFILE, type Profile } from "../model/profile.ts";
import type { Ledger } from "../store/store.ts";
import { chooseModel } from "../config/choose-model.ts";
import type { ContextSources } from "../insight/context-view.ts";
import { systemTimezone } from "../config/system-timezone.ts";

/** What there is to read of a home without a server: nothing is watched, and nothing written. */
export async function openContextSources({
  home,
  environment,
  ledger,
}: {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly ledger: Ledger;
}): Promise<ContextSources> {
  const loaded = await readConfig({ home, environment, systemTimezone: systemTimezone() });
  const { config } = loaded;
  const active = activeProfile(config) ?? (await chooseModel(loaded.environment, fetch)).profile;
  const profile = (name: string): Profile => {
    if (name === ACTIVE_PROFILE) return active;
    return name === active.name ? active : profileOf(config, name);
  };
  return { ledger, home, config, profile, tools: await contextTools(config) };
}

/** The tools that every Cortex has: what they are, for whoever does not call them. */
export async function contextTools(config: Config): Promise<ContextSources["tools"]> {
  const { createTools } = await import("./tools.ts");
  return createTools({
    home: "",
    settings: { config: () => config, variable: () => undefined },
    store: {
      events: { search: async () => [] },
      outbox: { add: async () => {} },
      sessions: { get: async () => undefined },
    },
    channels: () => [],
    hooks: { list: async () => [], add: notCalled, setEnabled: notCalled },
    delegating: () => {
      throw new Error(DESCRIBED);
    },
    relaying: () => {
      throw new Error(DESCRIBED);
    },
    teaming: () => {
      throw new Error(DESCRIBED);
    },
  });
}

const DESCRIBED = "This tool is here to be described";

function notCalled(): Promise<never> {
  return Promise.reject(new Error(DESCRIBED));
}
