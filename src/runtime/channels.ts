import type { Channel } from "../channels/channel.ts";
import { openLedgerChannel } from "../channels/ledger/ledger-channel.ts";
import type { Config } from "../config/config.ts";
import type { Settings } from "../config/settings.ts";

/** On these, people read answers in the ledger. */
const IN_THE_LEDGER = ["cli", "http", "web"];

interface Channels {
  readonly find: (name: string) => Channel | undefined;
  readonly names: () => readonly string[];
}

/** The channels by name, opened anew when the configuration changes. */
export function createChannels(
  settings: Pick<Settings, "config">,
  features: { channels(): readonly Channel[] },
): Channels {
  let opened: { readonly config: Config; readonly channels: ReadonlyMap<string, Channel> } | undefined;
  const current = (): ReadonlyMap<string, Channel> => {
    const config = settings.config();
    if (opened?.config !== config) {
      const channels = [...IN_THE_LEDGER.map(openLedgerChannel), ...features.channels()];
      opened = { config, channels: new Map(channels.map((channel) => [channel.name, channel])) };
    }
    return opened.channels;
  };
  return { find: (name) => current().get(name), names: () => [...current().keys()] };
}
