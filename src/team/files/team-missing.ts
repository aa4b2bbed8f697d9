import { existsSync } from "node:fs";
import { join } from "node:path";

import { CortexError } from "../../model/errors.ts";

/** A folder that somebody has only made is none yet. */
export function hasTeam(folder: string): boolean {
  return existsSync(join(folder, "agents"));
}

export function teamMissing(folder: string): CortexError {
  return new CortexError("team_missing", `There is no team in ${folder}`, {
    hint: "`cortex team init` makes one; `team_dir` in config.yaml, --team-dir or CORTEX_TEAM_DIR says where it is.",
  });
}
