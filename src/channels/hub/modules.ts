import { accountName } from "../../model/account-name.ts";
import { CortexError } from "../../model/errors.ts";
import { nearest } from "../../model/nearest.ts";
import { CHANNEL_API, type ChannelModule } from "../channel.ts";

/** The chat channels that there are, by name, each loaded on use. */
export type ChannelModules = ReadonlyMap<string, () => Promise<ChannelModule>>;

/** Throws `channel_unknown`. */
export async function loadModule(channel: string, modules: ChannelModules): Promise<ChannelModule> {
  const load = modules.get(channel);
  if (load === undefined) throw channelMissing(channel, [...modules.keys()]);
  const module = await load();
  if (module.api !== CHANNEL_API) throw versionUnknown(channel, module.api);
  return module;
}

/** None of this name comes with Cortex. */
function channelMissing(channel: string, known: readonly string[]): CortexError {
  const guess = nearest(channel, known);
  return new CortexError("channel_unknown", `Unknown channel "${channel}"`, {
    hint: `${guess === undefined ? "" : `Did you mean ${guess}? `}Channels: ${known.join(", ")}.`,
  });
}

/** None of this name is configured. */
export function channelUnknown(channel: string, known: readonly string[], account?: string): CortexError {
  const name = accountName(channel, account);
  return new CortexError("channel_unknown", `Unknown channel "${name}"`, {
    hint:
      known.length === 0
        ? "No chat channels are configured; add one with `cortex channels add`."
        : `Configured channels: ${known.join(", ")}. \`cortex channels\` lists their accounts.`,
  });
}

function versionUnknown(channel: string, version: unknown): CortexError {
  return new CortexError(
    "channel_unknown",
    `The channel "${channel}" has version ${String(version)} of the port`,
    { hint: `This Cortex supports version ${CHANNEL_API}. Install a matching version of the channel.` },
  );
}
