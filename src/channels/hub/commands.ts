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
    ],
  },
];
