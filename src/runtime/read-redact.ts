import { readConfig } from "../config/read.ts";
import type { Redact } from "../model/redact.ts";
import { followSecrets } from "./secrets.ts";
import { systemTimezone } from "../config/system-timezone.ts";

/** Takes out of a text what a Cortex of this home would not record. Throws `config_invalid`. */
export async function readRedact(given: {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<Redact> {
  const { config, environment, fileVariables } = await readConfig({
    ...given,
    systemTimezone: systemTimezone(),
  });
  const settings = { config: () => config, variable: environment, fileVariables };
  return followSecrets({ ...given, settings, clock: Date.now });
}
