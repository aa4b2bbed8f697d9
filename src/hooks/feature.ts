import type { Feature } from "../feature/feature.ts";
import type { Hooks } from "./open-hooks.ts";
import { HOOKS } from "./surface/commands.ts";

declare module "../feature/cortex.ts" {
  interface Apis {
    readonly hooks: Hooks;
  }
}

/** Scripts that look at every event and may fire. */
export const hooks: Feature = {
  name: "hooks",
  commands: [HOOKS],
  toolNames: ["create_hook", "list_hooks", "enable_hook", "disable_hook"],
  async tools(ports) {
    const { createHookTools } = await import("./surface/tools.ts");
    return createHookTools({
      list: () => ports().store.hooks.list(),
      add: (name, source) => ports().apis.hooks.add(name, source),
      setEnabled: (name, enabled) => ports().apis.hooks.setEnabled(name, enabled),
    });
  },
  async routes() {
    const [{ hookRoutes: routes }, { hookSchemas: schemas }] = await Promise.all([
      import("./surface/routes.ts"),
      import("./surface/schemas.ts"),
    ]);
    return { routes, schemas };
  },
  async open(ports) {
    const [{ openHooks }, { dayStart }] = await Promise.all([
      import("./open-hooks.ts"),
      import("../model/day.ts"),
    ]);
    const { settings, slots, apis, clock } = ports;
    const opened = await openHooks({
      ...ports,
      broker: slots,
      profile: (name) => settings.profile(name),
      config: () => settings.config(),
      dayStartMs: () => dayStart(clock(), settings.config().timezone),
      relays: () => apis.relays,
      variable: settings.variable,
    });
    return {
      api: { hooks: opened },
      start: () => opened.start(),
      wants: (direction, channel) => opened.wants(direction, channel),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  },
};
