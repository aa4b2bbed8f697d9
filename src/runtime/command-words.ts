import { USAGE } from "../queue/command.ts";

/** The words after a slash that are commands to Cortex, wherever they are written. */
export const COMMAND_WORDS: readonly string[] = [...Object.keys(USAGE), "team"];
