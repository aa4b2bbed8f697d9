import type { Feature } from "../feature/feature.ts";
import { KEEP } from "./commands.ts";

/** Backup, restore, prune and verify. */
export const keep: Feature = {
  name: "keep",
  commands: KEEP,
  async routes() {
    const { keepingRoutes: routes, keepSchemas: schemas } = await import("./routes.ts");
    return { routes, schemas };
  },
};
