/** `cortex hooks …`, as the table of commands has it. */
import { type CommandEntry, LIMIT } from "../../feature/command.ts";

export const HOOKS: CommandEntry = {
  usage: "hooks",
  about: "list the hooks, look at one, try it, or write one",
  examples: ["cortex hooks"],
  run: async (given) => (await import("./run-commands.ts")).list(given),
  commands: [
    {
      usage: "list",
      about: "list the hooks",
      examples: ["cortex hooks list --json"],
      run: async (given) => (await import("./run-commands.ts")).list(given),
    },
    {
      usage: "show <name>",
      about: "print all of one: what it does, how it does, its source and its last runs",
      examples: ["cortex hooks show default-dm-routing"],
      run: async (given) => (await import("./run-commands.ts")).show(given),
    },
    {
      usage: "test <name>",
      about: "see what it says to an event; nothing is recorded or done",
      examples: [
        'cortex hooks test default-dm-routing --channel cli --content "hello"',
        "cortex hooks test default-dm-routing --event http:01K5G7T9M3V8W2XQ4R6Z0B1C2D",
      ],
      options: [
        ["--event <id>", "an event of the ledger"],
        ["--channel <name>", "else: one of this channel"],
        ["--content <text>", "that says this"],
        ["--sender <id>", "from them"],
        ["--payload <json>", "with this payload"],
        ["--metadata <json>", "with this metadata"],
        ["--adapter <name>", "of this adapter (the channel)"],
        ["--at <moment>", "at this moment (now)"],
      ],
      run: async (given) => (await import("./run-commands.ts")).test(given),
    },
    {
      usage: "enable <name>",
      about: "let it judge events from now on",
      examples: ["cortex hooks enable default-dm-routing"],
      run: async (given) => (await import("./run-commands.ts")).enable(given),
    },
    {
      usage: "disable <name>",
      about: "keep it from judging events",
      examples: ["cortex hooks disable default-dm-routing"],
      run: async (given) => (await import("./run-commands.ts")).disable(given),
    },
    {
      usage: "new <name>",
      about: "write a hook that you can fill in",
      examples: ["cortex hooks new invoices", 'cortex hooks new standup --schedule "0 9 * * 1-5"'],
      options: [
        ["--schedule <when>", 'fires by the clock: "0 9 * * 1-5", "every 30m", "at 2026-12-01T09:00"'],
      ],
      run: async (given) => (await import("./run-commands.ts")).create(given),
    },
    {
      usage: "runs <name>",
      about: "list what it has judged, newest first",
      examples: ["cortex hooks runs default-dm-routing"],
      options: [LIMIT],
      run: async (given) => (await import("./run-commands.ts")).runs(given),
    },
    {
      usage: "next",
      about: "list what will fire when",
      examples: ["cortex hooks next"],
      options: [LIMIT],
      run: async (given) => (await import("./run-commands.ts")).next(given),
    },
  ],
};
