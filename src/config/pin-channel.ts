import { join } from "node:path";

import { setField } from "./insert-entry.ts";
import { type ConfigInput, configFolder, loadConfig, readTexts } from "./read.ts";
import { rewriteFile } from "./rewrite-file.ts";

/** Sets `sha256` of a plugin in `cortex.json`. Throws `config_invalid`, `state_conflict` and `home_unwritable`. */
export async function pinChannel(sources: ConfigInput, name: string, sha256: string): Promise<void> {
  await rewriteFile(join(configFolder(sources.home), "cortex.json"), async () => {
    const texts = await readTexts(sources.home);
    const old = texts.cortex !== undefined && "text" in texts.cortex ? texts.cortex.text : "";
    const text = setField(old, { section: "channels", name, key: "sha256", value: sha256 });
    loadConfig(sources, { ...texts, cortex: { text } });
    return { text, result: undefined };
  });
}
