/**
 * What stands between a persona and a turn, as it is stored with a dispatch: what a hook, a pairing or the manager
 * that delegated allows at most. A field that is absent takes nothing away.
 *
 * It is read strictly. Something that we cannot read was meant to take something away, and nobody knows what; so
 * it leaves nothing.
 */
import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import type { Json } from "../model/json.ts";
import { intersectPermissions, type Permissions } from "../model/permissions.ts";
import { canonicalPatterns, denyingPatterns } from "./tool-patterns.ts";

/** What is left where nobody knows what was meant. */
const NOTHING: Permissions = {
  tools: { allow: [[]], deny: ["*"] },
  ask: ["*"],
  roots: [],
  hosts: [[]],
  channels: [[]],
  credentials: [],
  spendUsdPerDay: 0,
};

export function narrow(permissions: Permissions, narrowing: Json): Permissions {
  const { success, data } = narrowingSchema.safeParse(narrowing);
  if (!success) return NOTHING;
  return intersectPermissions(permissions, {
    tools: {
      allow: (data.tools?.allow ?? []).map(canonicalPatterns),
      deny: denyingPatterns(data.tools?.deny ?? []),
    },
    ask: denyingPatterns(data.ask ?? []),
    roots: data.roots ?? permissions.roots,
    hosts: data.hosts ?? [],
    channels: data.channels ?? [],
    credentials: data.credentials ?? permissions.credentials,
    spendUsdPerDay: data.spendUsdPerDay ?? Infinity,
  });
}

const patterns = z.array(z.string());
/** One list, or several that must agree, as in permissions that were narrowed before. An empty one allows nothing. */
const lists = z.union([patterns.transform((list) => [list]), z.array(patterns)]);
const folder = z
  .string()
  .refine((path) => isAbsolute(path))
  .transform((path) => resolve(path));

const narrowingSchema = z.strictObject({
  /** Who sent the message, where that is not the owner. It takes nothing away by itself. */
  authority: z.enum(["owner", "paired", "source"]).optional(),
  tools: z.strictObject({ allow: lists.optional(), deny: patterns.optional() }).optional(),
  ask: patterns.optional(),
  roots: z.array(folder).optional(),
  hosts: lists.optional(),
  channels: lists.optional(),
  credentials: z.array(z.string()).optional(),
  spendUsdPerDay: z.number().min(0).optional(),
});
