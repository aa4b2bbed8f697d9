/** What can be done with the files of a team, with a server or without. */
import { adoptMember } from "../members/adopt-member.ts";
import { briefingFacts, formatBriefing } from "../reports/briefing.ts";
import { dispatchTask } from "../members/dispatch-task.ts";
import { housekeep, type Housekept } from "../reports/housekeeping.ts";
import { formatReview, reviewFacts } from "../reports/review.ts";
import { TeamFolder } from "./team-folder.ts";
import { TeamReader } from "./team-reader.ts";
import type { Team } from "./team.ts";
import type { TeamFiles } from "../teamwork.ts";

export interface TeamFilesSources {
  readonly root: string;
  readonly clock: () => number;
  readonly timezone: string;
  readonly heartbeatMinutes: number;
  /** Whether notes that do not say who runs them belong to Cortex. */
  readonly adopts?: boolean;
  /** The user's own folder, for paths that begin with `~`. */
  readonly user?: string | undefined;
  /** That git is run with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log?: (line: string) => void;
}

export interface OpenTeamFiles extends TeamFiles {
  readonly folder: TeamFolder;
  readonly reader: TeamReader;
  /** Of a team that was read just now. */
  prune(team: Team): Promise<Housekept>;
}

/** Opens nothing that would have to be closed. */
export function openTeamFiles(sources: TeamFilesSources): OpenTeamFiles {
  const { root, clock, timezone, heartbeatMinutes, adopts = false, user, environment, log } = sources;
  const folder = new TeamFolder({ root, clock, ...(log === undefined ? {} : { log }) });
  const reader = new TeamReader({ root: folder.root, clock, timezone, heartbeatMinutes, adopts, user });
  const prune = (team: Team) => housekeep(folder, team, { nowMs: clock(), timezone, environment });
  return {
    root: folder.root,
    folder,
    reader,
    prune,
    status: () => reader.read(),
    dispatch: async (wish) => dispatchTask(wish, await reader.read(), folder),
    adopt: async (agent) => adoptMember(agent, await reader.read(), folder),
    async briefing() {
      const facts = briefingFacts(await reader.read());
      return { facts, text: formatBriefing(facts) };
    },
    async review() {
      const facts = reviewFacts(await reader.read());
      return { facts, text: formatReview(facts) };
    },
    housekeeping: async () => prune(await reader.read()),
  };
}
