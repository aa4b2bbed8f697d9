/** The options for the settings of a team. */
import type { Command } from "../../feature/command.ts";

type Options = NonNullable<Command["options"]>;

/** The settings of every team command. */
export const WHERE: Options = [
  ["--team-dir <folder>", "Team directory (env CORTEX_TEAM_DIR, default ~/cortex-team)"],
  ["--heartbeat-minutes <number>", "Minutes between heartbeats (env CORTEX_HEARTBEAT_MINUTES, default 15)"],
];

/** All settings, for a server or a new team. */
export const TEAM_OPTIONS: Options = [
  ...WHERE,
  [
    "--daily-briefing <time>",
    'Time of the daily briefing, or "off" (env CORTEX_DAILY_BRIEFING, default 09:00)',
  ],
  ["--daily-review <time>", 'Time of the daily review, or "off" (env CORTEX_DAILY_REVIEW, default 18:00)'],
  ["--telegram-chat-id <id>", "Telegram chat that gets the reports (env CORTEX_TELEGRAM_CHAT_ID)"],
  [
    "--chief-of-staff-project <folder>",
    "Coordinator's project (env CORTEX_CHIEF_OF_STAFF_PROJECT, default: the team directory)",
  ],
  ["--adopt <boolean>", "Run members without a runner: true or false (env CORTEX_ADOPT, default false)"],
];
