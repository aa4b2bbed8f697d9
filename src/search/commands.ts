import { type Command, LIMIT } from "../feature/command.ts";

export const SEARCH: Command = {
  usage: "search <text...>",
  about: "Search conversations by keyword, best match first",
  group: "Look",
  examples: ["cortex search invoice", 'cortex search "blue widgets" --since 7d --channel cli'],
  options: [
    ["--channel <name>", "Only in this channel"],
    ["--since <moment>", "At or after this time: 2026-03-01, 2026-03-01T09:30, 30m, 12h, 7d, 2w"],
    ["--until <moment>", "Before this time"],
    LIMIT,
  ],
  run: async (given) => (await import("./command.ts")).searchLedger(given),
};
