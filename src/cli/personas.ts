import { readConfigured } from "../runtime/configured.ts";
import { personaView } from "../runtime/views.ts";
import type { Invocation } from "./command.ts";
import { table } from "./text.ts";

export async function personas({ home, environment, print }: Invocation): Promise<void> {
  const { config } = await readConfigured({ home, environment });
  const items = Object.entries(config.personas).map(([id, persona]) => personaView(id, persona));
  print.data({ items, next: null }, () =>
    table(
      items.map(({ id, name, permissions: { tools, ask } }) => [
        id,
        name,
        `may use ${tools.allow.join(", ") || "no tools"}`,
        tools.deny.length === 0 ? "" : `but not ${tools.deny.join(", ")}`,
        ask.length === 0 ? "" : `asks before ${ask.join(", ")}`,
      ]),
    ),
  );
}
