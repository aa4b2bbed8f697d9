import type { Config } from "../config/config.ts";
import type { PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { findMainSession } from "../routing/resolve.ts";
import type { Store } from "../store/store.ts";

/**
 * Records the personas for queries over the ledger, and in the audit log that they or other configured rights have
 * changed. The configuration stays the authority.
 */
export function recordPersonas(store: Store, config: Config): Promise<void> {
  const personas = Object.entries(config.personas).map(([id, { identity, permissions }]) => ({
    id: id as PersonaId,
    identity: identity,
    permissions: permissions as unknown as Json,
    mainSession: findMainSession(id as PersonaId, config),
  }));
  return store.syncPersonas(personas, rightsOf(config));
}

/** Who may do what, beside the permissions of personas. */
function rightsOf({ agents, channels }: Config): Json {
  const rights = Object.entries(agents).map(([id, { persona, tools, workspace, pluginDirs }]) => [
    id,
    { persona, tools, workspace, pluginDirs: [...pluginDirs] },
  ]);
  const { webhooks, files } = channels;
  return { agents: Object.fromEntries(rights), webhooks, files };
}
