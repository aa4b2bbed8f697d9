import type { Feature } from "../feature/feature.ts";
import { INSIGHT } from "./commands.ts";

/** Insight from the ledger: traces, costs, model contexts, health and metrics. */
export const insight: Feature = {
  name: "insight",
  commands: INSIGHT,
  async routes() {
    const [{ insightRoutes: routes }, { insightSchemas: schemas }] = await Promise.all([
      import("./routes.ts"),
      import("./schemas.ts"),
    ]);
    return { routes, schemas };
  },
};
