/** A team directory in a temporary folder, with a home and projects beside it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { TeamFolder } from "../../src/team/files/team-folder.ts";
import { temporaryFolder } from "./temporary.ts";

export interface TestTeam extends Disposable {
  /** Of everything: the user's own folder. */
  readonly path: string;
  readonly folder: TeamFolder;
  readonly read: (path: string) => string;
  /** A folder to work in; what it is called is up to the test. */
  project(name: string): string;
}

/** With these files in it, by their paths. */
export function testTeam(files: Readonly<Record<string, string>> = {}): TestTeam {
  const { path, [Symbol.dispose]: dispose } = temporaryFolder();
  const root = join(path, "cortex-team");
  mkdirSync(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return {
    path,
    folder: new TeamFolder({ root, clock: Date.now }),
    read: (name) => readFileSync(join(root, name), "utf8"),
    project: (name) => {
      mkdirSync(join(path, name), { recursive: true });
      return join(path, name);
    },
    [Symbol.dispose]: dispose,
  };
}
