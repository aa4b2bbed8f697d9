/** Imports the module of a plugin into this process, where it can do what Cortex can. */
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

import { CortexError, errorText } from "../../model/errors.ts";
import { type ChannelModule, CHANNEL_API } from "../channel.ts";
import { entryOf, type PluginContent, reviewedContent } from "./content.ts";

const here = import.meta.url;
/** `cortexd/channels`, also for folders that find no package of that name. */
const OURS = new URL(`../../conformance/channels.${here.endsWith(".ts") ? "ts" : "js"}`, here).href;

let isResolving = false;

function resolveOurs(): void {
  if (isResolving) return;
  isResolving = true;
  registerHooks({
    resolve: (specifier, context, nextResolve) =>
      nextResolve(specifier === "cortexd/channels" ? OURS : specifier, context),
  });
}

/** Node imports a module once: another content of it needs another process. */
const loaded = new Map<string, { readonly sha256: string; readonly module: ChannelModule }>();

/** Throws `channel_unknown`, and `plugin_unpinned` if it changes while it is loaded. */
export async function loadModule(
  name: string,
  { place, hash }: PluginContent,
  home: string,
): Promise<ChannelModule> {
  const known = loaded.get(place);
  if (known?.sha256 === hash.sha256) return known.module;
  if (known !== undefined)
    throw new CortexError("plugin_unpinned", `Another version of the plugin of "${name}" is loaded`, {
      hint: "Restart Cortex to load the version that you pinned.",
    });
  resolveOurs();
  const module = readModule(name, await importFrom(place));
  await reviewedContent(name, { use: place, sha256: hash.sha256 }, home);
  loaded.set(place, { sha256: hash.sha256, module });
  return module;
}

async function importFrom(folder: string): Promise<unknown> {
  try {
    const { default: module } = (await import(pathToFileURL(entryOf(folder)).href)) as { default?: unknown };
    return module;
  } catch (error) {
    if (error instanceof CortexError) throw error;
    throw new CortexError(
      "channel_unknown",
      `The channel plugin ${folder} cannot be loaded: ${errorText(error)}`,
      {
        hint: "Its module and what it imports must be there; Cortex installs nothing.",
        cause: error,
      },
    );
  }
}

function readModule(name: string, module: unknown): ChannelModule {
  const { api, can, settings, format, open, probe } = { ...(module as Partial<ChannelModule>) };
  if (api !== CHANNEL_API)
    throw new CortexError(
      "channel_unknown",
      `The plugin of "${name}" has version ${String(api)} of the port`,
      {
        hint: `This Cortex supports version ${CHANNEL_API}. Install a matching version of the plugin.`,
      },
    );
  const missing = Object.entries({ can, settings, format, open, probe }).flatMap(([field, value]) =>
    value === undefined ? [field] : [],
  );
  // It may be an instance of a class, whose methods are not its own.
  if (missing.length === 0)
    return Object.create(module as ChannelModule, {
      name: { value: name, enumerable: true },
    }) as ChannelModule;
  throw new CortexError("channel_unknown", `The plugin of "${name}" lacks ${missing.join(", ")}`, {
    hint: "docs/channel-plugins.md describes what a module exports.",
  });
}
