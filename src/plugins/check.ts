/** Doctor checks of plugins. Those that are not loaded are reported with the agents that name them. */
import { type Check, failure, ok } from "../feature/check.ts";
import type { CheckedHome } from "../feature/feature.ts";
import { count } from "../model/count.ts";
import { inspectPlugins } from "./inspect.ts";

export async function checkPins(home: CheckedHome): Promise<Check[]> {
  try {
    const matching = (await inspectPlugins(home)).filter(({ state }) => state === "pinned").length;
    return matching === 0
      ? []
      : [ok("plugins", count(matching, "plugin matches its pin", "plugins match their pins"))];
  } catch (error) {
    return [failure("plugins", error)];
  }
}
