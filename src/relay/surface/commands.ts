/** The commands `cortex relay …`. */
import { type Command, LIMIT } from "../../feature/command.ts";

export const RELAY: Command = {
  usage: "relay",
  about: "Run relays: agents passing an artifact along",
  group: "Team & relay",
  examples: ["cortex relay", "cortex relay --running"],
  options: [["--running", "Only unfinished relays"], LIMIT],
  run: async (given) => (await import("./show-command.ts")).listRelays(given),
  commands: [
    {
      usage: "run <template|agent> <message...>",
      about: "Start a relay; - reads standard input",
      examples: [
        'cortex relay run coder-review "Add a dark theme" --dir ~/site --wait',
        'cortex relay run research "Which database fits us?" --dry-run',
      ],
      options: [
        ["--dir <folder>", "Working folder of its agents (default: a new one)"],
        ["--profile <name>", "Profile for agents that use the active one"],
        ["--budget <usd>", "Cost limit in USD"],
        ["--key <key>", "Idempotency key: restarting with the same key has no effect"],
        ["--dry-run", "Preview its path with the offline model"],
        ["--wait", "Show progress and print the result"],
        ["--start", "Start a background server if none is running"],
      ],
      run: async (given) => (await import("./run-command.ts")).runRelay(given),
    },
    {
      usage: "add <relay|turn> <agent> [message...]",
      about: "Add an agent to a relay or turn",
      details: "The relay must be completed or waiting.",
      examples: ['cortex relay add thr_1a2b3c4d reviewer "Look at the tests once more" --wait'],
      options: [["--wait", "Show progress and print the result"]],
      run: async (given) => (await import("./run-command.ts")).addAgentToRelay(given),
    },
    {
      usage: "list",
      about: "List relays, newest first",
      examples: ["cortex relay list --limit 5"],
      options: [["--running", "Only unfinished relays"], LIMIT],
      run: async (given) => (await import("./show-command.ts")).listRelays(given),
    },
    {
      usage: "status [relay|turn]",
      about: "Show a relay's progress (default: the newest)",
      examples: ["cortex relay status"],
      run: async (given) => (await import("./show-command.ts")).showRelayStatus(given),
    },
    {
      usage: "show <relay|turn>",
      about: "Show a relay's steps, answers and artifact",
      examples: ["cortex relay show thr_1a2b3c4d --diff"],
      options: [
        ["--diff", "Show each step's changes to the artifact"],
        ["--step <number>", "Show the artifact after this step (first is 1)"],
      ],
      run: async (given) => (await import("./show-command.ts")).showRelay(given),
    },
    {
      usage: "say <relay> <message...>",
      about: "Send a message to a relay",
      details: "The relay must be running or waiting.",
      examples: ['cortex relay say thr_1a2b3c4d "Keep it under 100 lines."'],
      run: async (given) => (await import("./run-command.ts")).sayToRelay(given),
    },
    {
      usage: "cancel <relay>",
      about: "Cancel a running relay",
      examples: ["cortex relay cancel thr_1a2b3c4d"],
      run: async (given) => (await import("./run-command.ts")).cancelRelay(given),
    },
    {
      usage: "resume <relay>",
      about: "Resume a failed or cancelled relay",
      details: "Completed steps are not repeated.",
      examples: ["cortex relay resume thr_1a2b3c4d --wait"],
      options: [["--wait", "Show progress and print the result"]],
      run: async (given) => (await import("./run-command.ts")).resumeRelay(given),
    },
    {
      usage: "agents",
      about: "List relay agents",
      examples: ["cortex relay agents"],
      run: async (given) => (await import("./config-command.ts")).listRelayAgents(given),
    },
    {
      usage: "templates",
      about: "List relay templates",
      examples: ["cortex relay templates"],
      run: async (given) => (await import("./config-command.ts")).listTemplates(given),
    },
    {
      usage: "validate",
      about: "Validate templates, agents and prompts",
      details: "It also shows how each marker is read.",
      examples: ["cortex relay validate"],
      run: async (given) => (await import("./config-command.ts")).validateRelays(given),
    },
  ],
};
