import type { Invocation } from "../feature/command.ts";
import { harmless, table } from "../terminal/text.ts";
import { describeChanges } from "../personas/trusted-plugins.ts";
import { inspectPlugins, type PluginView } from "./inspect.ts";

const SHOWN_HASH = 12;

export async function listPlugins(given: Invocation): Promise<void> {
  const items = await inspectPlugins(given);
  given.print.data({ items, next: null }, () =>
    items.length === 0 ? given.print.advice(NONE) : table(items.flatMap(rowsOf)),
  );
}

const NONE = "No plugins. Name their folders in `pluginDirs` of an agent in config/cortex.json.";

function rowsOf({ folder, state, sha256, agents, changes, problem }: PluginView): string[][] {
  const users = agents.length === 0 ? "no agent names it" : agents.join(", ");
  const detail = changes === null ? problem : describeChanges(changes);
  return [
    [folder, state, sha256?.slice(0, SHOWN_HASH) ?? "", users].map(harmless),
    ...(detail === null ? [] : [["", "", "", harmless(detail)]]),
  ];
}
