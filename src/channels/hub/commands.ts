/** `cortex channels …`, as the table of commands has them. */
import type { Command } from "../../feature/command.ts";

const ACCOUNT = ["--account <id>", "Account of the channel, by a name of yours"] as const;

const FROM_INPUT =
  "Without a terminal, it reads NAME=value lines from standard input: variables of secrets, and settings.";

export const CHANNELS: readonly Command[] = [
  {
    usage: "channels",
    about: "Set up, list and connect chat channels",
    group: "Set up",
    examples: ["cortex channels"],
    run: async (given) => (await import("./channel-commands.ts")).listChannels(given),
    commands: [
      {
        usage: "add <channel>",
        about: "Set up a channel, step by step",
        details: `Secrets go into config/.env, settings into cortex.json, once the platform has accepted them. ${FROM_INPUT}`,
        examples: ["cortex channels add telegram", "cortex channels add telegram --account work"],
        options: [ACCOUNT, ["--yes", "Replace values, and save what the platform refuses"]],
        run: async (given) => (await import("./add-command.ts")).addChannel(given),
      },
      {
        usage: "list",
        about: "List chat channels and their connections",
        examples: ["cortex channels list", "cortex channels list --json"],
        run: async (given) => (await import("./channel-commands.ts")).listChannels(given),
      },
      {
        usage: "status [channel]",
        about: "Show connections, errors and waiting deliveries",
        examples: ["cortex channels status", "cortex channels status telegram"],
        run: async (given) => (await import("./channel-commands.ts")).showChannels(given),
      },
      {
        usage: "test <channel>",
        about: "Ask the platform whether everything is set up",
        examples: ["cortex channels test telegram"],
        options: [ACCOUNT],
        run: async (given) => (await import("./channel-commands.ts")).testChannel(given),
      },
      {
        usage: "login <channel>",
        about: "Replace the secrets of a channel",
        details: FROM_INPUT,
        examples: ["cortex channels login telegram"],
        options: [ACCOUNT, ["--yes", "Save what the platform refuses"]],
        run: async (given) => (await import("./add-command.ts")).loginChannel(given),
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
        usage: "unpair <identity>",
        about: "Take an identity away from its person",
        details: "They are a stranger from then on. What they said stays.",
        examples: ["cortex channels unpair telegram:42"],
        run: async (given) => (await import("./channel-commands.ts")).unpairIdentity(given),
      },
      {
        usage: "reconnect <channel>",
        about: "Connect a channel again at once",
        examples: ["cortex channels reconnect telegram"],
        options: [ACCOUNT],
        run: async (given) => (await import("./channel-commands.ts")).reconnectChannel(given),
      },
      {
        usage: "remove <channel>",
        about: "Remove a channel from the configuration",
        details: "The ledger keeps what was said there. Without --account, all accounts are removed.",
        examples: ["cortex channels remove telegram --yes --secrets"],
        options: [
          ACCOUNT,
          ["--yes", "Do not ask"],
          ["--secrets", "Also remove its variables from config/.env"],
        ],
        run: async (given) => (await import("./remove-command.ts")).removeChannel(given),
      },
      {
        usage: "pin <channel>",
        about: "Accept a channel plugin as it is now",
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
