/** The settings of the team that a command was given, and where it was given. */
import type { TeamSetupSources } from "../runtime/team-setup.ts";
import { type Invocation, text } from "./command.ts";

/** As the settings are called without dashes: `team-dir`. */
const FLAGS = [
  "team-dir",
  "heartbeat-minutes",
  "daily-briefing",
  "daily-review",
  "telegram-chat-id",
  "chief-of-staff-project",
  "adopt",
] as const;

/** Only those that were given. */
export function teamFlags(given: Invocation): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FLAGS.flatMap((flag) => {
      const value = text(given, camelCase(flag));
      return value === undefined ? [] : [[flag, value]];
    }),
  );
}

export function teamSources(given: Invocation): TeamSetupSources {
  const { home, environment } = given;
  return { home, environment, flags: teamFlags(given), workingDir: process.cwd() };
}

/** As commander calls an option. */
function camelCase(flag: string): string {
  return flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
