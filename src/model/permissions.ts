/**
 * What an agent may do.
 *
 * Permissions only ever get fewer: those of a turn are its persona's, narrowed by whatever stands between the
 * persona and the turn (the agent, the manager that delegated, the hook that fired, the sender). Narrowing must
 * not lose anything, and two lists of patterns have no intersection that is a list of patterns. So what is
 * allowed is a list of lists, each of which must agree.
 */
import { isAbsolute, relative, sep } from "node:path";

/** Names in which `*` stands for any characters. */
export type Patterns = readonly string[];

export interface Permissions {
  readonly tools: { readonly allow: readonly Patterns[]; readonly deny: Patterns };
  /** Tools of which every call needs a person's yes. */
  readonly ask: Patterns;
  /** Folders beside the workspace, absolute. */
  readonly roots: readonly string[];
  readonly hosts: readonly Patterns[];
  /** Channels that may be sent to. */
  readonly channels: readonly Patterns[];
  /** The variables of the environment that commands are given. */
  readonly credentials: readonly string[];
  readonly spendUsdPerDay: number;
}

/** Deny wins. */
export function allowsTool({ tools }: Permissions, name: string): boolean {
  return allows(tools.allow, name) && !matches(tools.deny, name);
}

export function allowsHost({ hosts }: Permissions, host: string): boolean {
  return allows(hosts, host.toLowerCase());
}

export function allowsChannel({ channels }: Permissions, channel: string): boolean {
  return allows(channels, channel);
}

export function asksBefore({ ask }: Permissions, tool: string): boolean {
  return matches(ask, tool);
}

/** What both allow. */
export function intersectPermissions(a: Permissions, b: Permissions): Permissions {
  return {
    tools: {
      allow: [...a.tools.allow, ...b.tools.allow],
      deny: [...new Set([...a.tools.deny, ...b.tools.deny])],
    },
    ask: [...new Set([...a.ask, ...b.ask])],
    roots: [...new Set([...insideOf(a.roots, b.roots), ...insideOf(b.roots, a.roots)])],
    hosts: [...a.hosts, ...b.hosts],
    channels: [...a.channels, ...b.channels],
    credentials: a.credentials.filter((name) => b.credentials.includes(name)),
    spendUsdPerDay: Math.min(a.spendUsdPerDay, b.spendUsdPerDay),
  };
}

export function matches(patterns: Patterns, name: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, name));
}

function allows(lists: readonly Patterns[], name: string): boolean {
  return lists.every((patterns) => matches(patterns, name));
}

/** Linear in the length of both, whatever the pattern. */
function matchesPattern(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at === -1 || at + part.length > name.length - last.length) return false;
    from = at + part.length;
  }
  return true;
}

function insideOf(folders: readonly string[], others: readonly string[]): string[] {
  return folders.filter((folder) => others.some((other) => isInside(folder, other)));
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
