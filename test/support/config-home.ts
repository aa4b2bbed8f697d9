import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LoadedConfig, readConfig } from "../../src/config/read.ts";
import { temporaryFolder } from "./temporary.ts";

export interface ConfigHome extends Disposable {
  readonly path: string;
  readonly folder: string;
  write(name: string, content: unknown): void;
}

/** A home with these files in its config folder: texts as they are, everything else as JSON. */
export function configHome(files: Readonly<Record<string, unknown>> = {}): ConfigHome {
  const { path, [Symbol.dispose]: dispose } = temporaryFolder();
  const folder = join(path, "config");
  mkdirSync(folder);
  const write = (name: string, content: unknown): void =>
    writeFileSync(
      join(folder, name),
      typeof content === "string" ? content : JSON.stringify(content, null, 2),
    );
  for (const [name, content] of Object.entries(files)) write(name, content);
  return { path, folder, write, [Symbol.dispose]: dispose };
}

export async function loadFiles(
  files: Readonly<Record<string, unknown>>,
  given: { environment?: Record<string, string>; flags?: Record<string, string> } = {},
): Promise<LoadedConfig> {
  using home = configHome(files);
  return await readConfig({ home: home.path, environment: {}, systemTimezone: () => "UTC", ...given });
}

/** The lines that name what is wrong, without the indent. */
export async function problemsIn(...files: Parameters<typeof loadFiles>): Promise<string[]> {
  const error = await loadFiles(...files).then(
    () => new Error("nothing is wrong"),
    (error: Error) => error,
  );
  return listProblems(error);
}

/** One problem is the message itself, with what to do as its hint; of several, each has a line. */
export function listProblems(error: Error & { readonly hint?: string }): string[] {
  const [first, ...lines] = error.message.split("\n").map((line) => line.trim());
  if (lines.length > 0 || error.hint === undefined) return lines;
  return [
    `${first!.replace(/^\S*\/(?=[\w.-]+:?\S* )/, "").replace(/^The (flag|environment)(.*?),/, "$1$2")}. ${error.hint}`,
  ];
}
