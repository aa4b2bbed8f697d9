import type { Feature } from "../../feature/feature.ts";
import type { Webhooks } from "./webhooks.ts";

declare module "../../feature/cortex.ts" {
  interface Apis {
    readonly webhooks: Pick<Webhooks, "receive">;
  }
}

/** Webhooks: signed requests of other programs become events, and answers are posted to a URL. */
export const webhook: Feature = {
  name: "webhook",
  routes: async () => ({ routes: [(await import("./routes.ts")).webhookRoute], schemas: {} }),
  async open(ports) {
    const { Webhooks } = await import("./webhooks.ts");
    const webhooks = new Webhooks(ports);
    return { api: { webhooks }, outlets: () => [webhooks.openOutlet()] };
  },
};
