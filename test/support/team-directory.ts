import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { temporaryFolder } from "./temporary.ts";

export interface TeamDirectory extends Disposable {
  readonly path: string;
  /** Paths are relative to it. */
  write(files: Readonly<Record<string, string | Buffer>>): void;
}

/** A team directory as somebody has written it by hand. */
export function teamDirectory(files: Readonly<Record<string, string | Buffer>> = {}): TeamDirectory {
  const folder = temporaryFolder();
  const write: TeamDirectory["write"] = (written) => {
    for (const [path, content] of Object.entries(written)) {
      mkdirSync(dirname(join(folder.path, path)), { recursive: true });
      writeFileSync(join(folder.path, path), content);
    }
  };
  write(files);
  return { path: folder.path, write, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** The files of a member. */
export function member(
  slug: string,
  { tasks = "", fields = {}, log = "Last session: --\nStatus: registered\n", projects = "" }: MemberText = {},
): Record<string, string> {
  const written = { name: slug, status: "active", joined: "2026-03-28", ...fields };
  const lines = Object.entries(written).map(([name, value]) => `${name}: ${value}\n`);
  const note = `---\n${lines.join("")}---\n## Role\nBuild things.\n\n## Projects\n${projects}\n## Capabilities\n\n## Session Log\n${log}`;
  return { [`agents/${slug}/${slug}.md`]: note, [`agents/${slug}/tasks.md`]: tasks };
}

interface MemberText {
  readonly tasks?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly log?: string;
  readonly projects?: string;
}
