/** All attacks that cross from one conversation into another, in families that share a Cortex. */
import type { CrossingFamily } from "./crossing.ts";
import { commandCrossings } from "./corpus/crossings/commands.ts";
import { fileCrossings } from "./corpus/crossings/files.ts";

export const CROSSINGS: Readonly<Record<string, CrossingFamily>> = {
  files: fileCrossings,
  commands: commandCrossings,
};
