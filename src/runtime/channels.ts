import type { Channel } from "../channels/channel.ts";
import { openLedgerChannel } from "../channels/ledger/ledger-channel.ts";
import { openWebhookChannel } from "../channels/webhook/webhook-channel.ts";
import type { Config } from "../config/config.ts";
import type { Settings } from "../config/settings.ts";

/** Through these, people read the answer in the ledger. */
const IN_THE_LEDGER = ["cli", "http", "web"];

/** The channels by their names, as they are configured at this moment. */
export function createChannels(
  settings: Pick<Settings, "config" | "variable">,
  clock: () => number,
): { readonly find: (name: string) => Channel | undefined; readonly names: () => readonly string[] } {
  let opened: { readonly config: Config; readonly channels: ReadonlyMap<string, Channel> } | undefined;
  const current = (): ReadonlyMap<string, Channel> => {
    const config = settings.config();
    if (opened?.config !== config) opened = { config, channels: openChannels(settings, clock) };
    return opened.channels;
  };
  return { find: (name) => current().get(name), names: () => [...current().keys()] };
}

function openChannels(
  { config, variable }: Pick<Settings, "config" | "variable">,
  clock: () => number,
): ReadonlyMap<string, Channel> {
  const targets = Object.entries(config().channels.webhooks).flatMap(([name, { deliverTo }]) => {
    return deliverTo === undefined ? [] : [[name, deliverTo] as const];
  });
  const webhook = openWebhookChannel({ targets: Object.fromEntries(targets), variable, fetch, clock });
  const channels = [...IN_THE_LEDGER.map(openLedgerChannel), webhook];
  return new Map(channels.map((channel) => [channel.name, channel]));
}
