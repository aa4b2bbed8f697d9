/** The channel that is checked. */
import type { ChannelModule } from "../channels/channel.ts";
import type { Counterpart } from "../channels/kit/counterpart.ts";
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { FEATURES } from "../runtime/features.ts";

export interface Subject {
  readonly module: ChannelModule;
  /** Of its entry in `channels`, what loads it. */
  readonly entry: Readonly<Record<string, Json>>;
  readonly start: () => Promise<Counterpart>;
}

/** The name of a built-in channel. */
export type ConformingChannel = string;

export async function openSubject(name: ConformingChannel, start: Subject["start"]): Promise<Subject> {
  const load = FEATURES.find((feature) => feature.name === name)?.channel;
  if (load === undefined) throw unknown(name);
  return { module: await load(), entry: {}, start };
}

function unknown(name: string): CortexError {
  return new CortexError("channel_unknown", `Unknown channel "${name}"`, {
    hint: "Name a built-in channel, or the package or folder of a plugin as `use`.",
  });
}
