import { readConfigured } from "../runtime/configured.ts";
import { agentView } from "../runtime/views.ts";
import type { Invocation } from "./command.ts";
import { table } from "./text.ts";

export async function agents({ home, environment, print }: Invocation): Promise<void> {
  const { config } = await readConfigured({ home, environment });
  const items = Object.entries(config.agents).map(([id, agent]) => agentView(id, agent));
  print.data({ items, next: null }, () =>
    table(
      items.map(({ id, role, persona, profile, tools }) => [id, role, persona, profile, tools.join(" ")]),
    ),
  );
}
