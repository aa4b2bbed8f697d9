import { type Command, LIMIT } from "../feature/command.ts";

export const INSIGHT: readonly Command[] = [
  {
    usage: "status",
    about: "Show server health and pending work",
    group: "Look",
    examples: ["cortex status", "cortex status --json"],
    run: async (given) => (await import("./status-command.ts")).showStatus(given),
  },
  {
    usage: "top",
    about: "Watch runs, queues and costs live",
    details: "Press q to quit.",
    group: "Look",
    examples: ["cortex top", "cortex top --json | jq .counts"],
    run: async (given) => (await import("./top-command.ts")).top(given),
  },
  {
    usage: "why <id>",
    about: "Trace an event from arrival to delivery",
    details: "The id can be that of an event, a turn, a delivery or a queue item.",
    group: "Look",
    examples: [
      "cortex why http:01K5G7T9M3V8W2XQ4R6Z0B1C2D",
      "cortex why 01K5G7T9M3V8W2XQ4R6Z0B1C2D --timing",
    ],
    options: [["--timing", "Show how long each stage took"]],
    run: async (given) => (await import("./why-command.ts")).why(given),
  },
  {
    usage: "diff <turn> <turn>",
    about: "Compare two threads after their last common turn",
    details: "A session name stands for its last turn.",
    group: "Look",
    examples: [
      "cortex diff 01K5G7T9M3V8W2XQ4R6Z0B1C2D 01K5G7V2N4W9X3YR5S7A1C2D3E",
      "cortex diff agent:main:main fork-01k5g7t9m3v8w2xq4r6z0b1c2d --side",
    ],
    options: [["--side", "Show turns side by side instead of a unified diff"], LIMIT],
    run: async (given) => (await import("./diff-command.ts")).diff(given),
  },
  {
    usage: "costs",
    about: "Show the cost of turns",
    group: "Look",
    examples: ["cortex costs", "cortex costs --by model --days 7"],
    options: [
      ["--by <what>", "Group by day, session, agent, persona, person or model (default day)"],
      ["--days <number>", "Number of days, including today (default 30)"],
    ],
    run: async (given) => (await import("./costs-command.ts")).costs(given),
  },
];
