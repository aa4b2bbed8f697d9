/** The team of a home as a person at this machine works on it: by its files, with a server or without. */
import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";

import { readTeamConfig } from "../config/team-config.ts";
import type { TeamFinding } from "./reports/lint.ts";
import { readConfigured } from "../config/configured.ts";
import { openTeamFiles } from "./files/team-directory.ts";
import { hasTeam, teamMissing } from "./files/team-missing.ts";
import type { TeamSetupSources } from "./members/setup.ts";
import type { TeamFiles } from "./teamwork.ts";
import { isoTime } from "../feature/views.ts";
import { watchTeam } from "./files/watch-team.ts";

export type { TeamFinding } from "./reports/lint.ts";

export interface OwnTeam extends TeamFiles {
  /** All that is not as the protocol has it. */
  lint(): Promise<TeamFinding[]>;
  /** Puts right what can be without losing anything. Gives the files that were changed. */
  repair(findings: readonly TeamFinding[]): Promise<string[]>;
  /** What files held before Cortex wrote them, newest first: of one, or of all. */
  history(file?: string): SavedFile[];
  /** Puts back what a file held before it was last written: that one, or the one that was written last. */
  undo(file?: string): Promise<SavedFile>;
  /** Tells whenever the files say something else, until it is disposed of. */
  watch(onChange: () => void): Promise<AsyncDisposable>;
}

/** What a file of the team held until then. */
interface SavedFile {
  readonly file: string;
  readonly until: string;
  /** Where it is kept. */
  readonly snapshot: string;
}

/** Throws `team_missing` and `config_invalid`. `log` is told of what others wrote and what was done about it. */
export async function openOwnTeam(sources: TeamSetupSources, log: (line: string) => void): Promise<OwnTeam> {
  const { home, environment, workingDir } = sources;
  const { teamDir, heartbeatMinutes, adopt, user } = await readTeamConfig(sources);
  if (!hasTeam(teamDir)) throw teamMissing(teamDir);
  const { timezone } = (await readConfigured({ home, environment })).config;
  const clock = Date.now;
  const files = openTeamFiles({
    root: teamDir,
    clock,
    timezone,
    heartbeatMinutes,
    adopts: adopt,
    user,
    environment,
    log,
  });
  const { folder, root } = files;
  const within = (file: string | undefined): string | undefined =>
    file === undefined ? undefined : pathWithin(root, file, workingDir);
  return {
    ...files,
    async lint() {
      const { lint } = await import("./reports/lint.ts");
      return lint(await files.status(), { home: user ?? root });
    },
    async repair(findings) {
      const { repair } = await import("./reports/repair.ts");
      return repair(folder, findings);
    },
    history: (file) => folder.history(within(file)).map(savedFile).toReversed(),
    undo: async (file) => {
      const { path, name, atMs } = await folder.undo(within(file));
      return savedFile({ path, name, atMs });
    },
    watch: (onChange) => watchTeam(files, { onChange, log }),
  };
}

function savedFile({ path, name, atMs }: { path: string; name: string; atMs: number }): SavedFile {
  return { file: path, until: isoTime(atMs), snapshot: `.cortex/snapshots/${path}/${name}` };
}

/** People name a file as it lies below the team directory, or as the shell completes it. */
function pathWithin(root: string, file: string, workingDir: string): string {
  const below = relative(root, resolve(workingDir, file));
  const isTyped = existsSync(resolve(workingDir, file)) && !below.startsWith("..");
  return isTyped && below !== "" ? below.split(sep).join("/") : file;
}
