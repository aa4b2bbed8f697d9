/** `cortex hooks …`, as the table of commands has it. */
import { type Command, LIMIT } from "../../feature/command.ts";

export const HOOKS: Command = {
  usage: "hooks",
  about: "List, test and write hooks",
  group: "Work",
  examples: ["cortex hooks"],
  run: async (given) => (await import("./run-commands.ts")).listHooks(given),
  commands: [
    {
      usage: "list",
      about: "List hooks",
      examples: ["cortex hooks list --json"],
      run: async (given) => (await import("./run-commands.ts")).listHooks(given),
    },
    {
      usage: "show <name>",
      about: "Show a hook's health, source and recent runs",
      examples: ["cortex hooks show default-dm-routing"],
      run: async (given) => (await import("./run-commands.ts")).showHook(given),
    },
    {
      usage: "test <name>",
      about: "Dry-run a hook on an event",
      examples: [
        'cortex hooks test default-dm-routing --channel cli --content "hello"',
        "cortex hooks test default-dm-routing --event http:01K5G7T9M3V8W2XQ4R6Z0B1C2D",
      ],
      options: [
        ["--event <id>", "Event from the ledger"],
        ["--channel <name>", "Channel of a synthetic event (instead of --event)"],
        ["--content <text>", "Content of the synthetic event"],
        ["--sender <id>", "Sender of the synthetic event"],
        ["--payload <json>", "Payload of the synthetic event"],
        ["--metadata <json>", "Metadata of the synthetic event"],
        ["--adapter <name>", "Adapter of the synthetic event (default: the channel)"],
        ["--at <moment>", "Time of the synthetic event (default: now)"],
      ],
      run: async (given) => (await import("./run-commands.ts")).testHook(given),
    },
    {
      usage: "enable <name>",
      about: "Enable a hook",
      examples: ["cortex hooks enable default-dm-routing"],
      run: async (given) => (await import("./run-commands.ts")).enableHook(given),
    },
    {
      usage: "disable <name>",
      about: "Disable a hook",
      examples: ["cortex hooks disable default-dm-routing"],
      run: async (given) => (await import("./run-commands.ts")).disableHook(given),
    },
    {
      usage: "new <name>",
      about: "Create a hook from a template",
      examples: ["cortex hooks new invoices", 'cortex hooks new standup --schedule "0 9 * * 1-5"'],
      options: [["--schedule <when>", 'Schedule: "0 9 * * 1-5", "every 30m" or "at 2026-12-01T09:00"']],
      run: async (given) => (await import("./run-commands.ts")).createHook(given),
    },
    {
      usage: "runs <name>",
      about: "List a hook's runs, newest first",
      examples: ["cortex hooks runs default-dm-routing"],
      options: [LIMIT],
      run: async (given) => (await import("./run-commands.ts")).listHookRuns(given),
    },
    {
      usage: "next",
      about: "List upcoming scheduled runs",
      examples: ["cortex hooks next"],
      options: [LIMIT],
      run: async (given) => (await import("./run-commands.ts")).listUpcoming(given),
    },
  ],
};
