/** Loads a hook's file in the process that will run it. */
import { fileURLToPath, pathToFileURL } from "node:url";

import type { Hook } from "../hook.ts";
import { OURS } from "./resolve-imports.ts";
import type { Exported } from "./lane-protocol.ts";

export interface LoadedHook {
  readonly handler: Hook;
  readonly config: unknown;
  readonly exported: Exported;
}

/** Rejects with an Error whose message is for the author. */
export async function loadHook(path: string): Promise<LoadedHook> {
  return readExports(await importFile(path));
}

/** Node takes the types out itself; what it refuses, an `enum` for instance, is left to jiti. */
async function importFile(path: string): Promise<Exports> {
  try {
    return (await import(pathToFileURL(path).href)) as Exports;
  } catch (error) {
    if (!isSyntax(error) || !path.endsWith("ts")) throw error;
    return importWithJiti(path).catch((other: unknown) => {
      throw isSyntax(other) || !isUnsupported(error) ? error : other;
    });
  }
}

async function importWithJiti(path: string): Promise<Exports> {
  const { createJiti } = await import("jiti");
  const alias = Object.fromEntries(Object.entries(OURS).map(([name, url]) => [name, fileURLToPath(url)]));
  // Its cache would outlive the file in a folder that is nobody's.
  const jiti = createJiti(import.meta.url, { alias, fsCache: false, interopDefault: false });
  return jiti.import<Exports>(path);
}

type Exports = Readonly<Record<string, unknown>>;

function readExports(module: Exports): LoadedHook {
  const { default: main, hook, filter, config } = module;
  if (typeof main === "function") {
    return { handler: main as Hook, config: config ?? {}, exported: { filter: toPlain(filter) } };
  }
  const definition = hook ?? main;
  if (definition === undefined) {
    throw new Error("It has no default export: write `export default async function (ctx) { … }`");
  }
  if (definition === null || typeof definition !== "object" || !("handler" in definition)) {
    throw new Error("What it exports is neither a function nor {handler, triggers}");
  }
  const { handler, name, description, mode, triggers, filter: own, config: settings } = definition as Exports;
  if (typeof handler !== "function") throw new Error("The `handler` of its hook is not a function");
  return {
    handler: (handler as Hook).bind(definition),
    config: settings ?? config ?? {},
    exported: {
      ...textOf("title", name),
      ...textOf("description", description),
      ...textOf("mode", mode),
      filter: toPlain(own ?? filter),
      triggers,
    },
  };
}

/** A regular expression cannot be written as JSON: as a text, the flags stand before it. */
function toPlain(filter: unknown): unknown {
  const match = filter !== null && typeof filter === "object" && "match" in filter ? filter.match : undefined;
  if (!(match instanceof RegExp)) return filter;
  const flags = match.flags.replaceAll(/[^ims]/g, "");
  return { ...(filter as object), match: flags === "" ? match.source : `(?${flags})${match.source}` };
}

function textOf<Name extends string>(field: Name, value: unknown): { [Key in Name]?: string } {
  return typeof value === "string" ? ({ [field]: value } as { [Key in Name]: string }) : {};
}

function isSyntax(error: unknown): boolean {
  return (
    isUnsupported(error) || error instanceof SyntaxError || codeOf(error) === "ERR_INVALID_TYPESCRIPT_SYNTAX"
  );
}

function isUnsupported(error: unknown): boolean {
  return codeOf(error) === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
