/** Loads a hook's file in the process that will run it. */
import { fileURLToPath, pathToFileURL } from "node:url";

import { systemErrorCode } from "../../model/errors.ts";
import { present } from "../../model/present.ts";
import { NO_DEFAULT_EXPORT } from "../folder/parse-header.ts";
import type { Hook } from "../hook.ts";
import { OURS, refuseImport } from "./resolve-imports.ts";
import type { HookExports } from "./lane-protocol.ts";

export interface LoadedHook {
  readonly handler: Hook;
  readonly config: unknown;
  readonly exported: HookExports;
}

/** Rejects with an Error whose message is for the author. */
export async function loadHook(path: string): Promise<LoadedHook> {
  return readExports(await importFile(path));
}

/** Node strips the types itself; jiti handles what Node refuses, such as an `enum`. */
async function importFile(path: string): Promise<Exports> {
  try {
    return await import(pathToFileURL(path).href);
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
  const { transform } = createJiti(import.meta.url);
  const jiti = createJiti(import.meta.url, {
    alias,
    fsCache: false, // it would outlive the file
    interopDefault: false,
    // Jiti does not ask Node for what the file imports.
    transform(options) {
      const { filename = path } = options;
      if (filename !== path) refuseImport(filename);
      return { code: transform(options) };
    },
  });
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
    throw new Error(NO_DEFAULT_EXPORT);
  }
  if (definition === null || typeof definition !== "object" || !("handler" in definition)) {
    throw new Error("Expected a function or {handler, triggers} as its export");
  }
  const {
    handler,
    name,
    description,
    mode,
    triggers,
    filter: own,
    config: settings,
  }: Exports = {
    ...definition,
  };
  if (typeof handler !== "function") throw new Error("`handler` is not a function");
  return {
    handler: (handler as Hook).bind(definition),
    config: settings ?? config ?? {},
    exported: {
      ...present({ title: textOf(name), description: textOf(description), mode: textOf(mode) }),
      filter: toPlain(own ?? filter),
      triggers,
    },
  };
}

/** JSON has no regular expressions: they become strings that start with their flags. */
function toPlain(filter: unknown): unknown {
  if (filter === null || typeof filter !== "object" || !("match" in filter)) return filter;
  const { match } = filter;
  if (!(match instanceof RegExp)) return filter;
  const flags = match.flags.replaceAll(/[^ims]/g, "");
  return { ...filter, match: flags === "" ? match.source : `(?${flags})${match.source}` };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isSyntax(error: unknown): boolean {
  return (
    isUnsupported(error) ||
    error instanceof SyntaxError ||
    systemErrorCode(error) === "ERR_INVALID_TYPESCRIPT_SYNTAX"
  );
}

function isUnsupported(error: unknown): boolean {
  return systemErrorCode(error) === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX";
}
