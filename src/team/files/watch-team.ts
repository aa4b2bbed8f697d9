/** Watches the files of a team. */
import { basename, join, relative, sep } from "node:path";

import { FolderWatch } from "../../config/watch-folders.ts";
import type { TeamDirectory } from "./team-directory.ts";

/**
 * Calls `onChange` whenever the team has changed, until it is disposed. Redoes our edits that others have overwritten. That
 * writes files too, so dotfiles (locks and drafts) are ignored.
 */
export async function watchTeam(
  { folder, root, reader, log }: TeamDirectory,
  onChange: () => void,
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

  /** A new member has a new folder. */
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
      .catch((error: unknown) => log(`Cannot check the team's files; retrying: ${String(error)}`))
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
