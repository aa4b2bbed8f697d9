import type { Feature } from "../../feature/feature.ts";
import type { Hub } from "./hub.ts";

declare module "../../feature/cortex.ts" {
  interface Apis {
    readonly channels: Pick<Hub, "list" | "look" | "reconnect">;
  }
}

/** Chat channels: keeps the configured accounts connected, takes in what they receive, and sends through them. */
export const channels: Feature = {
  name: "channels",
  async open(ports) {
    const { Hub } = await import("./hub.ts");
    return new Hub(ports);
  },
};
