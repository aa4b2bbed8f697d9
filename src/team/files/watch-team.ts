/** Looks at the files of a team whenever somebody has changed them. */
import { basename, join, relative, sep } from "node:path";

import { FolderWatch } from "../../config/watch-folders.ts";
import type { OpenTeamFiles } from "./team-directory.ts";

export interface TeamWatchParts {
  /** Told when the files say something else than before. */
  readonly onChange: () => void;
  readonly log: (line: string) => void;
}

/**
 * What we wrote and somebody has overwritten, hardly on purpose, is done again. That changes files too, so what is looked
 * at again is only what the system names: locks and files on their way have names that begin with a dot.
 */
export async function watchTeam(
  { folder, root, reader }: Pick<OpenTeamFiles, "folder" | "root" | "reader">,
  { onChange, log }: TeamWatchParts,
): Promise<AsyncDisposable> {
  let seen: string | undefined;
  let touched = new Set<string>();
  let looking: Promise<void> | undefined;
  let watch: { readonly members: string; readonly folders: FolderWatch } | undefined;
  let isClosed = false;

  function onTouched(path: string): void {
    const name = basename(path);
    if (name.endsWith(".md") && !name.startsWith(".")) touched.add(relative(root, path).split(sep).join("/"));
  }

  /** A member that is new has a folder that is new. */
  function watchFolders(slugs: readonly string[]): void {
    const members = slugs.join("\n");
    if (isClosed || watch?.members === members) return;
    watch?.folders[Symbol.dispose]();
    const paths = ["agents", "projects", ...slugs.map((slug) => join("agents", slug))];
    const folders = paths.map((path) => join(root, path));
    watch = { members, folders: new FolderWatch({ folders: () => folders, onTouched, onChange: lookSoon }) };
  }

  async function look(): Promise<void> {
    const paths = touched;
    touched = new Set();
    for (const path of paths) if (path.startsWith("agents/")) await folder.reconcile(path);
    const { members, projects, problems } = await reader.read();
    const slugs = members.map(({ slug }) => slug);
    const now = JSON.stringify([reader.reads, slugs, projects.length, problems.length]);
    if (seen !== undefined && now !== seen) onChange();
    seen = now;
    watchFolders(slugs);
  }

  function lookSoon(): void {
    if (isClosed) return;
    looking ??= look()
      .catch((error: unknown) => log(`The files of the team are looked at later: ${String(error)}`))
      .finally(() => {
        looking = undefined;
        if (touched.size > 0) lookSoon();
      });
  }

  await look();
  return {
    async [Symbol.asyncDispose]() {
      isClosed = true;
      watch?.folders[Symbol.dispose]();
      await looking;
    },
  };
}
