import type { Feature } from "../feature/feature.ts";
import { SUB_AGENT } from "./surface/commands.ts";

/** Lets agents delegate work and write to each other, and reports once how the work ended. */
export const delegation: Feature = {
  name: "delegation",
  commands: [SUB_AGENT],
  toolNames: ["sub_agent", "dispatch_to_agent", "reply_to_caller", "send_message_to_agent"],
  async tools(ports, config) {
    return (await import("./surface/tools.ts")).createDelegationTools(ports, config);
  },
  async routes() {
    const { delegationRoutes: routes, delegationSchemas: schemas } = await import("./surface/routes.ts");
    return { routes, schemas };
  },
  open: async (ports) => (await import("./open.ts")).openDelegation(ports),
};
