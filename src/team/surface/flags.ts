/** The settings of the team that a command was given, and where it was given. */
import { TEAM_FLAGS, type SetupLocation } from "../members/setup.ts";
import { type Invocation, text } from "../../feature/command.ts";

/** Only those that were given. */
export function teamFlags(given: Invocation): Readonly<Record<string, string>> {
  return Object.fromEntries(
    TEAM_FLAGS.flatMap((flag) => {
      const value = text(given, camelCase(flag));
      return value === undefined ? [] : [[flag, value]];
    }),
  );
}

export function teamLocation(given: Invocation): SetupLocation {
  const { home, environment } = given;
  return { home, environment, flags: teamFlags(given), workingDir: process.cwd() };
}

/** As commander calls an option. */
function camelCase(flag: string): string {
  return flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
