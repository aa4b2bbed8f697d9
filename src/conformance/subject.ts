/** The channel that is checked. */
import { channelPlugin } from "../config/channel-plugins.ts";
import type { ChannelModule } from "../channels/channel.ts";
import type { Counterpart } from "../channels/kit/counterpart.ts";
import { contentOf } from "../channels/plugins/content.ts";
import { openPlugin } from "../channels/plugins/open-plugin.ts";
import type { ProgramWatch } from "../model/bounds.ts";
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { FEATURES } from "../runtime/features.ts";

/** The name of a built-in channel; or a plugin, with the name of its channel and its `use` in the configuration. */
export type ConformingChannel = string | { readonly name: string; readonly use: Json };

export interface Subject {
  readonly module: ChannelModule;
  /** Of its entry in `channels`, what loads it. */
  readonly entry: Readonly<Record<string, Json>>;
  readonly start: () => Promise<Counterpart>;
}

export async function openSubject(channel: ConformingChannel, start: Subject["start"]): Promise<Subject> {
  if (typeof channel !== "string") return openPluginSubject(channel, start);
  const load = FEATURES.find(({ name }) => name === channel)?.channel;
  if (load === undefined) throw unknown(channel);
  return { module: await load(), entry: {}, start };
}

/** Pinned as it is: its author checks it. Paths are relative to the current folder. */
async function openPluginSubject(
  { name, use: given }: Exclude<ConformingChannel, string>,
  start: Subject["start"],
): Promise<Subject> {
  const here = process.cwd();
  const { use } = channelPlugin.parse({ use: given });
  const { place, hash } = await contentOf(use, here);
  const absolute =
    typeof use === "string" ? place : use.folder === undefined ? use : { ...use, folder: place };
  const pin = { use: absolute, sha256: hash.sha256 };
  let variables: Readonly<Record<string, string>> = {};
  const module = await openPlugin(name, pin, {
    home: here,
    settings: { variable: (variable: string) => variables[variable] } as never,
    watchProgram: () => UNWATCHED,
  });
  return {
    module,
    entry: pin,
    async start() {
      const counterpart = await start();
      ({ variables } = counterpart);
      return counterpart;
    },
  };
}

const UNWATCHED: ProgramWatch = {
  environment: {},
  exceeded: new Promise(() => {}),
  begin: () => {},
  terminate: async () => {},
  end: async () => {},
};

function unknown(name: string): CortexError {
  return new CortexError("channel_unknown", `Unknown channel "${name}"`, {
    hint: "Name a built-in channel, or give a plugin as { name, use }.",
  });
}
