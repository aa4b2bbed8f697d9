import type { Outlet } from "../channels/outlet.ts";
import { openLedgerOutlet } from "../channels/ledger/ledger-channel.ts";
import type { Config } from "../config/config.ts";
import type { Settings } from "../config/settings.ts";
import { DEFAULT_ACCOUNT } from "../model/ids.ts";
import type { OpenFeatures } from "./open-features.ts";

/** On these, people read answers in the ledger. */
const IN_THE_LEDGER = ["cli", "http", "web"];

interface Outlets {
  readonly find: (channel: string, account?: string) => Outlet | undefined;
  readonly names: () => readonly string[];
}

/** The ways out by channel, opened anew when the configuration changes. */
export function createOutlets(
  settings: Pick<Settings, "config">,
  features: Pick<OpenFeatures, "outlets" | "outlet" | "outletNames">,
): Outlets {
  let opened: { readonly config: Config; readonly outlets: ReadonlyMap<string, Outlet> } | undefined;
  const current = (): ReadonlyMap<string, Outlet> => {
    const config = settings.config();
    if (opened?.config !== config) {
      const outlets = [...IN_THE_LEDGER.map(openLedgerOutlet), ...features.outlets()];
      opened = { config, outlets: new Map(outlets.map((outlet) => [outlet.name, outlet])) };
    }
    return opened.outlets;
  };
  return {
    find: (channel, account = DEFAULT_ACCOUNT) => current().get(channel) ?? features.outlet(channel, account),
    names: () => [...current().keys(), ...features.outletNames()],
  };
}
