import type { Feature } from "../feature/feature.ts";
import { PLUGINS } from "./commands.ts";

/** Plugins of agents: the content that the owner has accepted of each, and what has changed since. */
export const plugins: Feature = {
  name: "plugins",
  commands: [PLUGINS],
  check: async (home) => (await import("./check.ts")).checkPins(home),
  async open(ports) {
    const pinNamed = async (): Promise<void> => {
      const config = ports.settings.config();
      const folders = Object.values(config.agents).flatMap(({ pluginDirs }) => pluginDirs);
      if (folders.length === 0) return;
      const { trustedPlugins } = await import("../personas/trusted-plugins.ts");
      const { problems } = await trustedPlugins(folders, { ...ports, config });
      for (const { problem, hint } of problems) if (hint !== undefined) ports.log(`${problem}. ${hint}`);
      const { notePins } = await import("./note-pins.ts");
      await notePins(ports);
    };
    return {
      // Before any turn runs: an agent without a sandbox could change a plugin that has no pin yet.
      recover: pinNamed,
      configChanged() {
        pinNamed().catch((error: unknown) => ports.log(`Cannot check plugins: ${String(error)}`));
      },
    };
  },
};
