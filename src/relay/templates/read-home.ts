/** The agents and templates of relays as a home has them, whether a server runs on it or not. */
import { configFolder } from "../../config/read.ts";
import { readRelayConfig } from "./read.ts";
import type { RelayConfig } from "./snapshot.ts";
import type { CheckedHome } from "../../feature/feature.ts";
import { readConfigured } from "../../config/configured.ts";
import { createRelayExaminer } from "./examine-agent.ts";

/** Throws `config_invalid` where the settings of the home are wrong; what is wrong with relays is in the result. */
export async function readRelays(sources: CheckedHome): Promise<RelayConfig> {
  const { config, variable } = await readConfigured(sources);
  const { home } = sources;
  const user = variable("HOME") ?? variable("USERPROFILE");
  const folders = { home, config: configFolder(home), user };
  return readRelayConfig(folders, {
    profiles: Object.keys(config.profiles),
    examine: createRelayExaminer(config, sources.toolNames),
  });
}
