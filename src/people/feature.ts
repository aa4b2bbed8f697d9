import type { Feature } from "../feature/feature.ts";
import { PEOPLE } from "./commands.ts";

/** People who write to Cortex: who they are, what they may do, and what is known of them. */
export const people: Feature = {
  name: "people",
  commands: PEOPLE,
  async routes() {
    const [{ peopleRoutes: routes }, { peopleSchemas: schemas }] = await Promise.all([
      import("./routes.ts"),
      import("./schemas.ts"),
    ]);
    return { routes, schemas };
  },
  check: async (home) => (await import("./check-paired.ts")).checkPaired(home),
};
