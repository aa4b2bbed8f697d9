import type { Json } from "../model/json.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Setup } from "./lookup.ts";
import { narrow } from "./narrowing.ts";
import { canonicalPatterns, denyingPatterns } from "./tool-patterns.ts";

/**
 * What a turn may do: what its persona may, as far as its agent has the tools, less whatever its dispatches take
 * away. Each of them is as it was stored; permissions that a manager had can be one of them.
 */
export function permissionsOf(setup: Setup, narrowed: readonly Json[]): Permissions {
  const delegable = delegableBy(setup, narrowed);
  const { allow, deny } = delegable.tools;
  return { ...delegable, tools: { allow: [canonicalPatterns(setup.agent.tools), ...allow], deny } };
}

/**
 * What its workers may do at most: the same, but for the tools that its agent has. Each agent has tools of its own, and
 * a manager that does nothing but delegate has workers that can.
 */
export function delegableBy({ persona }: Setup, narrowed: readonly Json[]): Permissions {
  const { tools, ask, roots, hosts, channels, credentials, spendUsdPerDay } = persona.permissions;
  const own: Permissions = {
    tools: { allow: [canonicalPatterns(tools.allow)], deny: denyingPatterns(tools.deny) },
    ask: denyingPatterns(ask),
    roots,
    hosts: [hosts],
    channels: [channels],
    credentials,
    spendUsdPerDay,
  };
  return narrowed.reduce(narrow, own);
}
