import { setEntry } from "./edit-entry.ts";
import type { ConfigInput } from "./read.ts";
import { rewriteConfig } from "./rewrite-config.ts";

/** Sets `sha256` of a plugin in `cortex.json`. Throws what `rewriteConfig` throws. */
export async function pinChannel(sources: ConfigInput, name: string, sha256: string): Promise<void> {
  await rewriteConfig(sources, {
    edit: (text) => setEntry(text, ["channels", name, "sha256"], sha256),
    otherwise: `The plugin of the channel ${name} was not pinned`,
  });
}
