import type { Feature } from "../../feature/feature.ts";

/** Watched folders: files that are created, changed or deleted there become events. */
export const files: Feature = {
  name: "files",
  open: async (ports) => new (await import("./watched-folders.ts")).WatchedFolders(ports),
};
