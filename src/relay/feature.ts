import type { Feature } from "../feature/feature.ts";
import type { Relays } from "./relays.ts";
import { RELAY } from "./surface/commands.ts";

declare module "../feature/cortex.ts" {
  interface Apis {
    readonly relays: Relays;
  }
}

/** Agents that pass one artifact along, and scripts at the moments of relays and sessions. */
export const relay: Feature = {
  name: "relay",
  commands: [RELAY],
  toolNames: ["relay_start", "relay_abort"],
  async tools(ports) {
    const [{ createRelayTools }, { relayToolParts }] = await Promise.all([
      import("./surface/tools.ts"),
      import("./surface/tool-parts.ts"),
    ]);
    return createRelayTools(() => relayToolParts(ports()));
  },
  async routes() {
    const [{ relayRoutes: routes }, { relaySchemas: schemas }] = await Promise.all([
      import("./surface/routes.ts"),
      import("./surface/schemas.ts"),
    ]);
    return { routes, schemas };
  },
  check: async (home) => (await import("./surface/check.ts")).checkRelays(home),
  open: async (ports) => (await import("./open.ts")).openRelay(ports),
};
