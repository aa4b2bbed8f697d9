import { channelPlugins } from "../../config/channel-accounts.ts";
import { pluginPath } from "../../config/channel-plugins.ts";
import { readConfigured } from "../../config/configured.ts";
import { pinChannel } from "../../config/pin-channel.ts";
import type { Invocation } from "../../feature/command.ts";
import { CortexError } from "../../model/errors.ts";
import { compareFolders } from "../../model/folder-hash.ts";
import { pinPlugin, pluginName, readPins } from "../../personas/plugin-pins.ts";
import { describeFiles, isAccepted, isPrompting } from "../../plugins/pin-command.ts";
import { contentOf } from "./content.ts";

/** Pins what it has shown, whatever happens to the plugin meanwhile. False: the owner declined. */
export async function pinChannelPlugin(given: Invocation): Promise<void | false> {
  const { home, args, options, print } = given;
  const [name = ""] = args;
  const { config } = await readConfigured(given);
  const plugins = channelPlugins(config);
  const plugin = plugins[name];
  if (plugin === undefined) throw pluginUnknown(name, Object.keys(plugins));
  const { place, hash } = await contentOf(plugin.use, home);
  const { sha256, files } = hash;
  const folder = pluginPath(plugin.use, home) ?? place;
  const pinned = (await readPins(home)).get(pluginName(folder, home));
  const before = pinned?.sha256 === plugin.sha256 ? pinned?.files : undefined;
  const changes = compareFolders(before ?? [], files);
  const view = { channel: name, place, sha256, changes };
  const isPinned = plugin.sha256 === sha256;
  if (isPinned || options["check"] === true)
    return print.data({ ...view, pinned: isPinned }, () =>
      [
        ...describeFiles(changes),
        `${place} ${isPinned ? "matches its pin" : "is not pinned as it is"}.`,
      ].join("\n"),
    );
  const shown = describeFiles(changes);
  if (isPrompting(given)) {
    process.stdout.write(`${shown.splice(0).join("\n")}\n`);
    if (!(await isAccepted(place))) return false;
  }
  // The list of files is only for the next comparison: the hash in the configuration decides.
  await pinPlugin(folder, hash, { home, by: "owner", nowMs: Date.now() });
  await pinChannel(given, name, sha256);
  print.data({ ...view, pinned: true }, () => [...shown, `Pinned ${place}.`].join("\n"));
}

function pluginUnknown(name: string, known: readonly string[]): CortexError {
  return new CortexError("channel_unknown", `Unknown channel plugin "${name}"`, {
    hint:
      known.length === 0 ? "No channel has `use` in config/cortex.json." : `Plugins: ${known.join(", ")}.`,
  });
}
