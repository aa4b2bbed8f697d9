/** The content of a plugin: where it is, and its hash, which has to be the one that the owner has reviewed. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import type { PluginPin } from "../../config/channel-accounts.ts";
import { pluginPath, type PluginUse } from "../../config/channel-plugins.ts";
import { CortexError } from "../../model/errors.ts";
import { type FolderHash, hashOfFiles, sha256OfFolder } from "../../model/folder-hash.ts";
import { ownFile } from "../../model/own-files.ts";

/** Throws `channel_unknown` if it is not there, and `file_unsafe` if it cannot be hashed. */
export async function contentOf(use: PluginUse, home: string): Promise<PluginContent> {
  const path = pluginPath(use, home);
  if (path !== undefined) return contentIn(await folderOf(path, path, home));
  if (typeof use === "string") return contentIn(await folderOf(use, packageFolder(use, home), home));
  const file = await realpath(programOf(use.command[0]!, home));
  const sha256 = createHash("sha256").update(await readFile(file));
  const files = [`program ${sha256.digest("hex")} ${file}`];
  return { place: file, hash: { sha256: hashOfFiles(files), files } };
}

async function contentIn(place: string): Promise<PluginContent> {
  return { place, hash: await sha256OfFolder(place) };
}

export interface PluginContent {
  /** Its folder, or the program where it has none. Without links. */
  readonly place: string;
  readonly hash: FolderHash;
}

/** The content, if it is what was reviewed. Throws `plugin_unpinned`, and what `contentOf` throws. */
export async function reviewedContent(
  name: string,
  { use, sha256 }: PluginPin,
  home: string,
): Promise<PluginContent> {
  const content = await contentOf(use, home);
  if (content.hash.sha256 === sha256) return content;
  const what = sha256 === undefined ? "is not pinned" : "has changed since it was pinned";
  throw new CortexError("plugin_unpinned", `The plugin of the channel "${name}" ${what}`, {
    hint: `Review ${content.place}, then run \`cortex channels pin ${name}\`, or set sha256 to ${content.hash.sha256}.`,
  });
}

async function folderOf(name: string, folder: string | undefined, home: string): Promise<string> {
  if (folder !== undefined && statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true)
    return realpath(folder);
  throw new CortexError("channel_unknown", `There is no channel plugin ${name}`, {
    hint:
      folder === undefined
        ? `Install the package in ${home}, or beside Cortex: npm install --ignore-scripts ${name}.`
        : "Name a folder relative to the home in `use`.",
  });
}

/** In the home, or beside Cortex. */
function packageFolder(name: string, home: string): string | undefined {
  for (const from of [pathToFileURL(join(home, "package.json")), ownFile("package.json")]) {
    const found = findPackageJSON(name, from);
    if (found !== undefined) return dirname(found);
  }
  return undefined;
}

/** As a shell finds it. */
function programOf(program: string, home: string): string {
  if (isAbsolute(program)) return program;
  if (program.includes("/")) return resolve(home, program);
  const paths = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program));
  return paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true) ?? program;
}

/** The module of a plugin's folder: what its package.json names, or `index.js`, `index.mjs` or `index.ts`. */
export function entryOf(folder: string): string {
  const manifest = readManifest(folder);
  const main = exportOf(manifest["exports"]) ?? manifest["main"];
  const names = typeof main === "string" ? [main] : ["index.js", "index.mjs", "index.ts"];
  const found = names
    .map((name) => join(folder, name))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
  if (found !== undefined && found.startsWith(`${folder}/`)) return found;
  throw new CortexError("channel_unknown", `The channel plugin ${folder} has no module`, {
    hint: `Expected ${names.join(", or ")} in it.`,
  });
}

function readManifest(folder: string): Readonly<Record<string, unknown>> {
  const path = join(folder, "package.json");
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return {};
  return JSON.parse(readFileSync(path, "utf8")) as ReturnType<typeof readManifest>;
}

/** Of the conditions that hold for a module that is imported. */
function exportOf(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (typeof exports !== "object" || exports === null) return undefined;
  for (const [name, value] of Object.entries(exports))
    if ([".", "node", "import", "default"].includes(name)) {
      const found = exportOf(value);
      if (found !== undefined) return found;
    }
  return undefined;
}
