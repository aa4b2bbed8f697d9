import type { PluginPin } from "../../config/channel-accounts.ts";
import type { Ports } from "../../feature/ports.ts";
import type { ChannelModule } from "../channel.ts";
import { openProgram } from "../lines/open-program.ts";
import { reviewedContent } from "./content.ts";
import { loadModule } from "./load-module.ts";

/** The channel of an entry with `use`. Throws `plugin_unpinned`, `channel_unknown` and `file_unsafe`. */
export async function openPlugin(
  name: string,
  pin: PluginPin,
  ports: Pick<Ports, "home" | "settings" | "watchProgram">,
): Promise<ChannelModule> {
  const content = await reviewedContent(name, pin, ports.home);
  return typeof pin.use === "string"
    ? loadModule(name, content, ports.home)
    : openProgram(name, { ...pin.use, place: content.place }, ports);
}
