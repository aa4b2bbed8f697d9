/**
 * Records of files by their place in the home, so that a home keeps the labels of its files wherever it is restored or
 * moved to. Other files are recorded by their absolute path.
 */
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

import type { LabelStore, WrittenFile } from "../store/store.ts";

/** Where recorded paths begin that are in the home. No absolute path begins like this. */
const HOME = "~";

/** The same labels, by absolute paths. */
export function byAbsolutePath(labels: LabelStore, home: string): LabelStore {
  let found: Promise<string> | undefined;
  const root = (): Promise<string> => (found ??= realpath(home).catch(() => resolve(home)));
  const kept = async (path: string): Promise<string> => toKept(path, await root());
  const keptFile = async (file: WrittenFile): Promise<WrittenFile> => ({
    ...file,
    path: await kept(file.path),
  });
  const files = async (recorded: readonly WrittenFile[]): Promise<WrittenFile[]> => {
    const at = await root();
    return recorded.map((file) => Object.assign({}, file, { path: toAbsolute(file.path, at) }));
  };
  /** A folder above the home holds what is recorded by its place in the home, too. */
  const foldersIn = async (folder: string): Promise<string[]> => {
    const at = await root();
    return isPathInside(folder, at)
      ? [toKept(folder, at)]
      : isPathInside(at, folder)
        ? [folder, HOME]
        : [folder];
  };
  return {
    areEmpty: () => labels.areEmpty(),
    ofFile: async ({ path, ...file }) => files(await labels.ofFile({ ...file, path: await kept(path) })),
    async under(folder, options) {
      const found = await Promise.all((await foldersIn(folder)).map((each) => labels.under(each, options)));
      return (await files(found.flat())).slice(0, options.limit);
    },
    async labelsUnder(folder) {
      return (await Promise.all((await foldersIn(folder)).map((each) => labels.labelsUnder(each)))).flat();
    },
    async commands(period) {
      const at = await root();
      const commands = await labels.commands(period);
      return commands.map((command) => {
        const folders = command.folders.map((folder) => toAbsolute(folder, at));
        return Object.assign({}, command, { folders });
      });
    },
    willWrite: async (file) => labels.willWrite(await keptFile(file)),
    hasWritten: async (path, sha256) => labels.hasWritten(await kept(path), sha256),
    beginCommand: async ({ folders, ...command }) =>
      labels.beginCommand({ ...command, folders: await Promise.all(folders.map(kept)) }),
    endCommand: async (id, atMs, changed) =>
      labels.endCommand(id, atMs, changed && (await Promise.all(changed.map(keptFile)))),
  };
}

export function isPathInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function toKept(path: string, home: string): string {
  return isPathInside(path, home) ? join(HOME, relative(home, path)) : path;
}

function toAbsolute(path: string, home: string): string {
  return path === HOME || path.startsWith(`${HOME}/`) ? join(home, path.slice(HOME.length)) : path;
}
