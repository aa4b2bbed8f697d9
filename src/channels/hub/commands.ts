/** `cortex channels …`, as the table of commands has them. */
import type { Command } from "../../feature/command.ts";

export const CHANNELS: readonly Command[] = [
  {
    usage: "channels",
    about: "List and connect chat channels",
    group: "Set up",
    examples: ["cortex channels"],
    run: async (given) => (await import("./channel-commands.ts")).listChannels(given),
    commands: [
      {
        usage: "list",
        about: "List chat channels and their connections",
        examples: ["cortex channels list", "cortex channels list --json"],
        run: async (given) => (await import("./channel-commands.ts")).listChannels(given),
      },
      {
        usage: "pair [code]",
        about: "Let in the stranger with this code",
        details: "Without a code, it lists the codes that strangers were given in the last hour.",
        examples: ["cortex channels pair", "cortex channels pair K7WQ2MZA --as owner"],
        options: [
          ["--as <role>", "Who it is: owner, which is you, or member (default)"],
          ["--person <id>", "Person they are: an existing one, or a new id"],
        ],
        run: async (given) => (await import("./channel-commands.ts")).pairStranger(given),
      },
      {
        usage: "reconnect <channel>",
        about: "Connect a channel again at once",
        examples: ["cortex channels reconnect telegram"],
        run: async (given) => (await import("./channel-commands.ts")).reconnectChannel(given),
      },
      {
        usage: "pin <channel>",
        about: "Accept the plugin of a channel as it is now",
        details:
          "Shows which files were added, changed and removed, prompts in a terminal, and sets `sha256` in config/cortex.json.",
        examples: ["cortex channels pin irc", "cortex channels pin irc --check"],
        options: [
          ["--check", "Show the changes without accepting them"],
          ["--yes", "Do not prompt"],
        ],
        run: async (given) => (await import("../plugins/pin-command.ts")).pinChannelPlugin(given),
      },
    ],
  },
];
