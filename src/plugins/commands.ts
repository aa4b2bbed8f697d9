/** `cortex plugins …`, as the table of commands has it. */
import type { Command } from "../feature/command.ts";

export const PLUGINS: Command = {
  usage: "plugins",
  about: "List plugins and accept their changes",
  group: "Set up",
  examples: ["cortex plugins"],
  run: async (given) => (await import("./list-command.ts")).listPlugins(given),
  commands: [
    {
      usage: "list",
      about: "List plugins and whether they match their pins",
      examples: ["cortex plugins list", "cortex plugins list --json"],
      run: async (given) => (await import("./list-command.ts")).listPlugins(given),
    },
    {
      usage: "pin <folder>",
      about: "Accept a plugin as it is now",
      details:
        "Shows which files were added, changed and removed, and prompts in a terminal. The folder is relative to the home.",
      examples: ["cortex plugins pin plugins/reviewer", "cortex plugins pin plugins/reviewer --check"],
      options: [
        ["--check", "Show the changes without accepting them"],
        ["--yes", "Do not prompt"],
      ],
      run: async (given) => (await import("./pin-command.ts")).pin(given),
    },
  ],
};
