import type { OpenFeature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import type { RelayId } from "../model/ids.ts";
import { authorityOf } from "../personas/authority.ts";
import { PreparedSessionScripts } from "./prepare-session-scripts.ts";
import { prepareRelays } from "./prepare-relays.ts";
import { readRelayResult } from "./record/summary.ts";
import { carryOutRelay } from "./surface/chat-commands.ts";
import { parseRelayCommand, RELAY_USAGE } from "./surface/chat-command-syntax.ts";

export function openRelay(ports: Ports): OpenFeature {
  const { home, store, settings, clock, slots } = ports;
  const withSlot = slots.withSlot.bind(slots);
  const relays = prepareRelays(ports);
  const sessionScripts = new PreparedSessionScripts({
    ...ports,
    variable: settings.variable,
    isPerson: (sender) => ["owner", "paired"].includes(authorityOf(sender, settings.config())),
    withSlot,
  });
  return {
    api: { relays },
    chat: {
      usage: RELAY_USAGE.split("\n"),
      parse(text) {
        const command = parseRelayCommand(text);
        return command && ((origin) => carryOutRelay(command, origin, { relays, store, clock }));
      },
    },
    async recover() {
      await relays.start();
      await sessionScripts.start();
    },
    configChanged: () => relays.lookAgain(),
    async readWait(detail) {
      const { relay } = detail as { readonly relay?: RelayId };
      return relay === undefined ? undefined : readRelayResult(relay, { home, store });
    },
    async [Symbol.asyncDispose]() {
      await sessionScripts[Symbol.asyncDispose]();
      await relays[Symbol.asyncDispose]();
    },
  };
}
