/**
 * What a turn may do: the permissions of its persona, narrowed by what is stored with each dispatch, which says what a
 * hook, a person or a delegating manager allows at most.
 */
import { isAbsolute, resolve } from "node:path";

import { z } from "zod";
import type { Json } from "../model/json.ts";
import { intersectPermissions, matches, type Patterns, type Permissions } from "../model/permissions.ts";
import type { Setup } from "./lookup.ts";
import { canonicalToolName, TOOL_ALIASES } from "../model/tool-aliases.ts";

/** The persona's permissions with the tools of its agent, narrowed by each of these as they were stored. */
export function permissionsOf(setup: Setup, narrowed: readonly Json[]): Permissions {
  const delegable = delegableBy(setup, narrowed);
  const { allow, deny } = delegable.tools;
  return { ...delegable, tools: { allow: [canonicalPatterns(setup.agent.tools), ...allow], deny } };
}

/**
 * What its workers may do at most: the same, but not limited to the tools of its agent, because a manager that can only
 * delegate has workers that can do more.
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

/** The result of a narrowing that is invalid. */
const NOTHING: Permissions = {
  tools: { allow: [[]], deny: ["*"] },
  ask: ["*"],
  roots: [],
  hosts: [[]],
  channels: [[]],
  credentials: [],
  spendUsdPerDay: 0,
};

/** An absent field removes nothing. An invalid narrowing was meant to remove something, so it removes everything. */
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

/** The tools that a narrowing takes away, as a label names them. */
export function deniedTools(narrowing: Json): readonly string[] {
  const { success, data } = narrowingSchema.safeParse(narrowing);
  if (!success) return ["*"];
  const { allow = [], deny = [] } = data.tools ?? {};
  const lists = allow.map(canonicalPatterns).filter((list) => !list.includes("*"));
  return [...denyingPatterns(deny), ...lists.map((list) => `!${list.toSorted().join(",")}`)];
}

/** The narrowing that takes these away, as a label names them. Undefined: it takes nothing. */
export function narrowingByDenied(denied: readonly string[]): { readonly tools: Json } | undefined {
  if (denied.length === 0) return undefined;
  const lists = denied.filter((entry) => entry.startsWith("!")).map((entry) => entry.slice(1).split(","));
  const deny = denied.filter((entry) => !entry.startsWith("!"));
  return { tools: lists.length === 0 ? { deny } : { allow: lists, deny } }; // an empty list allows nothing
}

const patterns = z.array(z.string());
/** One list, or several that must all agree, as in permissions that were narrowed before. An empty list allows nothing. */
const lists = z.union([patterns.transform((list) => [list]), z.array(patterns)]);
const folder = z
  .string()
  .refine((path) => isAbsolute(path))
  .transform((path) => resolve(path));

const narrowingSchema = z.strictObject({
  /** Who sent the message. Removes nothing by itself. */
  authority: z.enum(["owner", "paired", "source"]).optional(),
  tools: z.strictObject({ allow: lists.optional(), deny: patterns.optional() }).optional(),
  ask: patterns.optional(),
  roots: z.array(folder).optional(),
  hosts: lists.optional(),
  channels: lists.optional(),
  credentials: z.array(z.string()).optional(),
  spendUsdPerDay: z.number().min(0).optional(),
});

/** Patterns of allowed tools. Tools have other names elsewhere, and a configuration may use those. */
function canonicalPatterns(patterns: Patterns): Patterns {
  return patterns.map(canonicalToolName);
}

/** Patterns that forbid or ask. `shell` forbids Bash, and so does a pattern that matches another name, as `file_*` does. */
export function denyingPatterns(patterns: Patterns): Patterns {
  const narrower = patterns.filter((pattern) => pattern !== "*"); // it matches everything anyway
  const meant = Object.entries(TOOL_ALIASES)
    .filter(([alias]) => matches(narrower, alias))
    .map(([, { name }]) => name);
  return [...new Set([...canonicalPatterns(patterns), ...meant])];
}
