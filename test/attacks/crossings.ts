/** All attacks that cross from one conversation into another, in families that share a Cortex. */
import type { CrossingFamily } from "./crossing.ts";
import { commandCrossings } from "./corpus/crossings/commands.ts";
import { controlCrossings } from "./corpus/crossings/control.ts";
import { fileCrossings } from "./corpus/crossings/files.ts";
import { ownPeopleCrossings, peopleCrossings } from "./corpus/crossings/people.ts";
import { relayCrossings } from "./corpus/crossings/relays.ts";
import {
  compactionCrossings,
  forkCrossings,
  memoryCrossings,
  recallCrossings,
} from "./corpus/crossings/talks.ts";
import { teamCrossings } from "./corpus/crossings/teams.ts";
import { workerCrossings } from "./corpus/crossings/workers.ts";

export const CROSSINGS: Readonly<Record<string, CrossingFamily>> = {
  files: fileCrossings,
  commands: commandCrossings,
  "files that steer an agent": controlCrossings,
  workers: workerCrossings,
  relays: relayCrossings,
  people: peopleCrossings,
  "people who are kept to their own": ownPeopleCrossings,
  memory: memoryCrossings,
  recall: recallCrossings,
  compaction: compactionCrossings,
  forks: forkCrossings,
  teams: teamCrossings,
};
