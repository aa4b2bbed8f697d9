import { readConfigured } from "../config/configured.ts";
import type { Invocation } from "../feature/command.ts";
import { FEATURES } from "../runtime/features.ts";
import { table } from "../terminal/text.ts";

/** The effective settings of the next start. Values that may contain a secret are not shown. */
export async function config({ home, environment, print }: Invocation): Promise<void> {
  const configured = await readConfigured({ home, environment });
  const ofFeatures = FEATURES.map(async (feature) => (await feature.settings?.({ home, environment })) ?? []);
  const settings = [...configured.settings, ...(await Promise.all(ofFeatures)).flat()];
  print.data(settings, () =>
    table(
      settings.map(({ path, value, origin }) => [path, JSON.stringify(value), print.style("dim", origin)]),
    ),
  );
}
