import type { Feature } from "../feature/feature.ts";
import { INSIGHT } from "./commands.ts";

/** What a ledger tells: why something happened, what it cost, what a model is given, how Cortex is doing. */
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
