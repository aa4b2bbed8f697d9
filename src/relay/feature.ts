import type { Feature } from "../feature/feature.ts";
import type { Relays } from "./relays.ts";
import { RELAY } from "./surface/commands.ts";

declare module "../feature/cortex.ts" {
  interface Apis {
    readonly relays: Relays;
  }
}

/**
 * Relays: agents that pass one artifact along by the rules of a template, and scripts that run between their steps and
 * after turns of sessions.
 *
 * Its rooms, each importing only those before it: `artifact` (the shared file, its history, file changes), `prompts` (the
 * language and files of prompts), `templates` (reads, validates and watches templates and agents), `scripts` (programs of
 * the owner), `record` (the state of a relay, and pure functions on it), `engine` (advances relays), `surface` (commands,
 * routes, tools, chat commands, views).
 */
export const relay: Feature = {
  name: "relay",
  commands: [RELAY],
  chatWords: ["!thread", "!cancel"],
  writeStarterFiles: async (home) =>
    (await import("./templates/shipped-files.ts")).writeRelayStarterFiles(home),
  toolNames: ["relay_start", "relay_abort"],
  async tools(ports) {
    const [{ createRelayTools }, { startFromTool }] = await Promise.all([
      import("./surface/tools.ts"),
      import("./surface/start-from-tool.ts"),
    ]);
    return createRelayTools((wish, context) => startFromTool(wish, context, ports()));
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
