import type { Setup } from "./lookup.ts";

/** Whether an agent has a tool: its own list and its persona's permissions must both name it, and deny wins. */
export function allowsTool({ agent, persona }: Setup, tool: string): boolean {
  const { allow, deny } = persona.permissions.tools;
  return matches(agent.tools, tool) && matches(allow, tool) && !matches(deny, tool);
}

/** `*` stands for any characters. */
function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, name));
}

function matchesPattern(pattern: string, name: string): boolean {
  const [first, ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  const last = rest.pop()!;
  if (!name.startsWith(first!) || !name.endsWith(last) || name.length < first!.length + last.length)
    return false;
  let from = first!.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at === -1 || at + part.length > name.length - last.length) return false;
    from = at + part.length;
  }
  return true;
}
