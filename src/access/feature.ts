import type { Feature } from "../feature/feature.ts";
import { ACCESS } from "./commands.ts";

/** Scoped tokens, the main token, and the audit log. */
export const access: Feature = {
  name: "access",
  commands: ACCESS,
  async routes() {
    const [{ accessRoutes: routes }, { accessSchemas: schemas }] = await Promise.all([
      import("./routes.ts"),
      import("./schemas.ts"),
    ]);
    return { routes, schemas };
  },
};
