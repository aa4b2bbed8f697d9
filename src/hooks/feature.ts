import type { Feature } from "../feature/feature.ts";
import type { Hooks } from "./open-hooks.ts";
import { HOOKS } from "./surface/commands.ts";

declare module "../feature/cortex.ts" {
  interface Apis {
    readonly hooks: Hooks;
  }
}

/** Scripts that judge every event and may fire. */
export const hooks: Feature = {
  name: "hooks",
  commands: [HOOKS],
  async writeStarterFiles(home) {
    const [{ addShippedHooks, hooksPath }, { count }] = await Promise.all([
      import("./folder/files.ts"),
      import("../terminal/text.ts"),
    ]);
    const paths = addShippedHooks(home);
    return { paths, summary: `${count(paths.length, "hook")} to ${hooksPath(home)}` };
  },
  toolNames: ["create_hook", "list_hooks", "enable_hook", "disable_hook"],
  tools: async (ports) => (await import("./surface/tools.ts")).createHookTools(() => ports().apis.hooks),
  async routes() {
    const [{ hookRoutes: routes }, { hookSchemas: schemas }] = await Promise.all([
      import("./surface/routes.ts"),
      import("./surface/schemas.ts"),
    ]);
    return { routes, schemas };
  },
  open: async (ports) => (await import("./open-hooks.ts")).openHooks(ports),
};
