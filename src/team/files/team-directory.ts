/** A team directory with its settings. All reads and writes go through here. */
import { readConfigured } from "../../config/configured.ts";
import { readTeamConfig, type TeamConfig, type TeamLocation } from "../../config/team-config.ts";
import { isMarkedAsOurs } from "./adoption.ts";
import { TeamFolder } from "./team-folder.ts";
import { hasTeam, teamMissing } from "./team-errors.ts";
import type { TeamLabels } from "./team-labels.ts";
import { TeamReader } from "./team-reader.ts";
import type { Team } from "./team.ts";

interface TeamDirectoryOptions {
  readonly config: TeamConfig;
  readonly timezone: string;
  readonly clock: () => number;
  /** Reports redone edits, and edits by others that only a snapshot holds. */
  readonly log?: (line: string) => void;
  /** Whose words the files hold. Undefined: of a program beside the one that keeps the ledger. */
  readonly labels?: TeamLabels;
}

/** Needs no closing. */
export class TeamDirectory {
  readonly root: string;
  readonly config: TeamConfig;
  readonly timezone: string;
  readonly clock: () => number;
  readonly log: (line: string) => void;
  /** Writes single files. */
  readonly folder: TeamFolder;
  /** Reads the whole team. */
  readonly reader: TeamReader;

  constructor({ config, timezone, clock, log = () => {}, labels }: TeamDirectoryOptions) {
    const { teamDir: root, heartbeatMinutes, adopt: adopts, user } = config;
    this.root = root;
    this.config = config;
    this.timezone = timezone;
    this.clock = clock;
    this.log = log;
    this.folder = new TeamFolder({ root, clock, log, onWrite: labels && ((path) => labels.keepRest(path)) });
    this.reader = new TeamReader({ root, clock, timezone, heartbeatMinutes, adopts, user });
  }

  /** The user's home folder, for paths that start with `~`. */
  get user(): string {
    return this.config.user ?? this.root;
  }

  /** Whether Cortex runs members whose notes name no runtime. */
  get adopts(): boolean {
    return this.config.adopt || isMarkedAsOurs(this.root);
  }

  /** The team as its files are now. */
  read(): Promise<Team> {
    return this.reader.read();
  }
}

/** The team directory of a home, whether it exists or not. Throws `config_invalid`. */
export async function findTeamDirectory(
  location: TeamLocation,
  log?: (line: string) => void,
): Promise<TeamDirectory> {
  const config = await readTeamConfig(location);
  const { home, environment } = location;
  const { timezone } = (await readConfigured({ home, environment })).config; // does not know the team's flags
  return new TeamDirectory({ config, timezone, clock: Date.now, ...(log === undefined ? {} : { log }) });
}

/** As `findTeamDirectory`. Also throws `team_missing` if there is no team. */
export async function openTeamDirectory(
  location: TeamLocation,
  log?: (line: string) => void,
): Promise<TeamDirectory> {
  const directory = await findTeamDirectory(location, log);
  if (!hasTeam(directory.root)) throw teamMissing(directory.root);
  return directory;
}
