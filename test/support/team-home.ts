/** A home with a team in it, whose members work in folders of that home. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { type Cortex, type CortexOptions } from "../../src/runtime/cortex.ts";
import { type HomeFiles, openTestCortex, writeHome } from "./home.ts";
import { temporaryFolder } from "./temporary.ts";

export interface TestMember {
  /** Unless told, `workspaces/projects/<slug>` of the home, which is there. */
  readonly project?: string;
  readonly isForeign?: boolean;
  readonly status?: "active" | "inactive";
  readonly tasks?: string;
}

export interface TeamHome extends Disposable {
  readonly path: string;
  readonly team: string;
  open(options?: Partial<CortexOptions>): Promise<Cortex>;
  tasks(slug: string): string;
  note(slug: string): string;
  write(path: string, text: string): void;
}

export interface TeamHomeFiles extends HomeFiles {
  /** Of config.yaml, beside the team directory. */
  readonly settings?: string;
}

export function teamHome(members: Readonly<Record<string, TestMember>>, files: TeamHomeFiles = {}): TeamHome {
  const folder = temporaryFolder();
  const home = folder.path;
  const team = join(home, "team");
  writeHome(home, { cortex: { timezone: "UTC", sandbox: "off" }, ...files });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(team, path)), { recursive: true });
    writeFileSync(join(team, path), text);
  };
  writeFileSync(join(home, "config.yaml"), `team_dir: ${team}\n${files.settings ?? ""}`);
  mkdirSync(join(team, "agents"), { recursive: true });
  for (const [slug, { project, isForeign, status = "active", tasks = "" }] of Object.entries(members)) {
    const works = project ?? join(home, "workspaces", "projects", slug);
    if (project === undefined) mkdirSync(works, { recursive: true });
    const runtime = isForeign === true ? "" : "runtime: cortex\n";
    write(
      `agents/${slug}/${slug}.md`,
      `---\nname: ${slug}\nproject: ${works}\nstatus: ${status}\n${runtime}---\n\n## Role\nDo it.\n\n## Session Log\nLast session: --\nStatus: registered\n`,
    );
    write(`agents/${slug}/tasks.md`, tasks);
  }
  const read = (path: string): string => readFileSync(join(team, path), "utf8");
  return {
    path: home,
    team,
    open: (options = {}) => openTestCortex({}, { ...options, home }),
    tasks: (slug) => read(`agents/${slug}/tasks.md`),
    note: (slug) => read(`agents/${slug}/${slug}.md`),
    write,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
