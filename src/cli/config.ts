import { readConfigured, readTeamSettings } from "../config/configured.ts";
import type { Invocation } from "../feature/command.ts";
import { table } from "../terminal/text.ts";

/** The settings in effect as a start would find them. What may hold a secret is named and not shown. */
export async function config({ home, environment, print }: Invocation): Promise<void> {
  const configured = await readConfigured({ home, environment });
  const settings = [...configured.settings, ...(await readTeamSettings({ home, environment }))];
  print.data(settings, () =>
    table(
      settings.map(({ path, value, origin }) => [path, JSON.stringify(value), print.style("dim", origin)]),
    ),
  );
}
