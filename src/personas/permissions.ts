import type { Json } from "../model/json.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Setup } from "./lookup.ts";
import { narrow } from "./narrowing.ts";
import { canonicalPatterns, denyingPatterns } from "./tool-patterns.ts";

/**
 * What a turn may do: what its persona may, as far as its agent has the tools, less whatever its dispatches take
 * away. Each of them is as it was stored; permissions that a manager had can be one of them.
 */
export function permissionsOf({ agent, persona }: Setup, narrowed: readonly Json[]): Permissions {
  const { tools, ask, roots, hosts, channels, credentials, spendUsdPerDay } = persona.permissions;
  const own: Permissions = {
    tools: {
      allow: [canonicalPatterns(agent.tools), canonicalPatterns(tools.allow)],
      deny: denyingPatterns(tools.deny),
    },
    ask: denyingPatterns(ask),
    roots,
    hosts: [hosts],
    channels: [channels],
    credentials,
    spendUsdPerDay,
  };
  return narrowed.reduce(narrow, own);
}
