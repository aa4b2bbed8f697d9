/**
 * The permissions of delegated work: never more than those of the delegating turn, apart from tools of the worker's own
 * agent.
 *
 * A new worker keeps all that its caller's turn was allowed, as a bound. What goes back to a session whose own turn
 * began the work acts for whoever began that turn, and is narrowed as their message was.
 */
import { canonicalJson, type Json } from "../model/json.ts";
import type { Patterns, Permissions } from "../model/permissions.ts";

/** Lists of tools, all of which must agree. An absent list narrows nothing. */
type Lists = readonly (Patterns | undefined)[];

/** Permissions as a narrowing, as it is kept with sessions and dispatches. The same list twice is one list. */
export function narrowingOf(permissions: Permissions, tools: Lists = []): { readonly [field: string]: Json } {
  const { ask, roots, hosts, channels, credentials, spendUsdPerDay } = permissions;
  const { allow, deny } = permissions.tools;
  return {
    tools: { allow: distinct([...allow, ...present(tools)]), deny },
    ask,
    roots,
    hosts: distinct(hosts),
    channels: distinct(channels),
    credentials,
    // JSON has no infinity; an absent limit narrows nothing.
    ...(Number.isFinite(spendUsdPerDay) ? { spendUsdPerDay } : {}),
  };
}

/**
 * What a message brings along that acts for whoever began the turn it is sent from. Undefined: the owner did, and
 * nothing is taken away.
 */
export function onBehalf(
  given: readonly Json[],
  isByOthers: boolean,
  permissions: Permissions,
): Json | undefined {
  if (given.length === 0) return undefined;
  const [first] = distinct(given);
  return distinct(given).length === 1 ? first : boundBy(permissions, isByOthers);
}

/** All that the turn may do, and whether others than the owner have had a say in it. */
export function boundBy(permissions: Permissions, isByOthers: boolean, tools: Lists = []): Json {
  return { ...narrowingOf(permissions, tools), authority: isByOthers ? "source" : "owner" };
}

function present(lists: Lists): Patterns[] {
  return lists.filter((list) => list !== undefined);
}

function distinct<Value extends Json>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}
