/** `cortex relay …`, as the table of commands has it. */
import { type CommandEntry, LIMIT } from "../../feature/command.ts";

export const RELAY: CommandEntry = {
  usage: "relay",
  about: "let agents pass an artifact along: start relays, look at them, steer them",
  examples: ["cortex relay", "cortex relay --running"],
  options: [["--running", "only those that are not over"], LIMIT],
  run: async (given) => (await import("./show-command.ts")).list(given),
  commands: [
    {
      usage: "run <template|agent> <message...>",
      about: "start a relay; a message of - is read from standard input",
      examples: [
        'cortex relay run coder-review "Add a dark theme" --dir ~/site --wait',
        'cortex relay run research "Which database fits us?" --dry-run',
      ],
      options: [
        ["--dir <folder>", "where its agents work (a folder of its own)"],
        ["--profile <name>", "for its agents that run on the active profile"],
        ["--budget <usd>", "what all of it may cost at most"],
        ["--key <key>", "the same key is the same relay, however often it is started"],
        ["--dry-run", "only show the way that it takes with the offline model"],
        ["--wait", "show how it goes on, and print what comes of it"],
        ["--start", "start a server in the background if none runs"],
      ],
      run: async (given) => (await import("./run-command.ts")).run(given),
    },
    {
      usage: "add <relay|turn> <agent> [message...]",
      about: "add an agent to a completed or waiting relay, or a turn",
      examples: ['cortex relay add thr_1a2b3c4d reviewer "Look at the tests once more" --wait'],
      options: [["--wait", "show how it goes on, and print what comes of it"]],
      run: async (given) => (await import("./run-command.ts")).add(given),
    },
    {
      usage: "list",
      about: "list the relays, newest first",
      examples: ["cortex relay list --limit 5"],
      options: [["--running", "only those that are not over"], LIMIT],
      run: async (given) => (await import("./show-command.ts")).list(given),
    },
    {
      usage: "status [relay|turn]",
      about: "tell where a relay is and what its steps have done; unless named, the newest",
      examples: ["cortex relay status"],
      run: async (given) => (await import("./show-command.ts")).status(given),
    },
    {
      usage: "show <relay|turn>",
      about: "print all of a relay: its steps with what they answered, and its artifact",
      examples: ["cortex relay show thr_1a2b3c4d --diff"],
      options: [
        ["--diff", "what each step has changed in the artifact"],
        ["--step <number>", "the artifact after this step, counted from 1"],
      ],
      run: async (given) => (await import("./show-command.ts")).show(given),
    },
    {
      usage: "say <relay> <message...>",
      about: "write to a running or waiting relay",
      examples: ['cortex relay say thr_1a2b3c4d "Keep it under 100 lines."'],
      run: async (given) => (await import("./run-command.ts")).say(given),
    },
    {
      usage: "cancel <relay>",
      about: "end a relay that runs",
      examples: ["cortex relay cancel thr_1a2b3c4d"],
      run: async (given) => (await import("./run-command.ts")).cancel(given),
    },
    {
      usage: "resume <relay>",
      about: "go on with a relay that has failed or was cancelled; no step is done twice",
      examples: ["cortex relay resume thr_1a2b3c4d --wait"],
      options: [["--wait", "show how it goes on, and print what comes of it"]],
      run: async (given) => (await import("./run-command.ts")).resume(given),
    },
    {
      usage: "agents",
      about: "list the agents that relays can have",
      examples: ["cortex relay agents"],
      run: async (given) => (await import("./config-command.ts")).agents(given),
    },
    {
      usage: "templates",
      about: "list the templates that relays can be started from",
      examples: ["cortex relay templates"],
      run: async (given) => (await import("./config-command.ts")).templates(given),
    },
    {
      usage: "validate",
      about: "look for what is wrong with templates, agents and prompts, and say how markers are read",
      examples: ["cortex relay validate"],
      run: async (given) => (await import("./config-command.ts")).validate(given),
    },
  ],
};
