import type { Feature } from "../../feature/feature.ts";
import { CHANNELS } from "./commands.ts";
import type { Hub } from "./hub.ts";

declare module "../../feature/cortex.ts" {
  interface Apis {
    readonly channels: Pick<Hub, "list" | "look" | "reconnect" | "pair">;
  }
}

/** Chat channels: keeps the configured accounts connected, takes in what they receive, and sends through them. */
export const channels: Feature = {
  name: "channels",
  commands: CHANNELS,
  async routes() {
    const [{ channelRoutes: routes }, { channelSchemas: schemas }] = await Promise.all([
      import("./routes.ts"),
      import("./schemas.ts"),
    ]);
    return { routes, schemas };
  },
  check: async (home) => (await import("./check.ts")).checkChannels(home),
  async open(ports) {
    const { Hub } = await import("./hub.ts");
    return new Hub(ports);
  },
};
