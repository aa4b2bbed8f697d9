/** What a hook's file says about itself, read from its text without running it. */
import type { HookMode, HookOrigin } from "../../store/store.ts";

interface Header {
  readonly title?: string;
  readonly description?: string;
  readonly mode?: HookMode;
  readonly origin?: HookOrigin;
  readonly startsDisabled?: true;
  /** A tag with an invalid value: the hook would not do what its author thinks. */
  readonly error?: string;
}

/** hook: to be loaded. unfinished: looks like a hook but exports none. other: not a hook. */
type ScriptKind = "hook" | "unfinished" | "other";

export const NO_DEFAULT_EXPORT = "No default export: write `export default async function (ctx) { … }`";

/** A list ends before the next brace, so looking for its end never rereads the rest of the file. */
const EXPORTS = /(?:^|[;}])[ \t]*export\s+(?:(default\b|const\s+hook\b)|\{([^{}]*)\})/gm;
const AS_HOOK = /\b(?:as\s+default|hook)\b/;
/** The folder also holds relay scripts, which have neither. */
const LOOKS_LIKE_ONE = /\bHookContext\b|["']cortexd\/hooks["']/;
const COMMENT = /^(?:﻿)?(?:#!.*\n)?(?:\s|\/\/.*\n)*\/\*\*([\s\S]*?)\*\//;

export function scriptKindOf(text: string): ScriptKind {
  for (const [, single, list = ""] of text.matchAll(EXPORTS))
    if (single !== undefined || AS_HOOK.test(list)) return "hook";
  return LOOKS_LIKE_ONE.test(text) || tagsOf(text).has("mode") ? "unfinished" : "other";
}

export function parseHeader(text: string): Header {
  const tags = tagsOf(text);
  const title = tags.get("name");
  const description = tags.get("description");
  const mode = modeOf(tags.get("mode"));
  const starts = tags.get("starts");
  const origin = tags.get("origin");
  const errors = [
    ...wrong("mode", mode, ["persistent", "one-shot"]),
    ...wrong("starts", starts, ["active", "disabled"]),
    ...wrong("origin", origin, ["person", "agent"]),
  ];
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(mode === "persistent" || mode === "one-shot" ? { mode } : {}),
    ...(origin === "person" || origin === "agent" ? { origin } : {}),
    ...(starts === "disabled" ? { startsDisabled: true as const } : {}),
    ...(errors.length === 0 ? {} : { error: errors.join("; ") }),
  };
}

/** The tags of the first comment. A value runs over several lines until the next tag. */
function tagsOf(text: string): ReadonlyMap<string, string> {
  const comment = COMMENT.exec(text)?.[1] ?? "";
  const tags = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const raw of comment.split("\n")) {
    const line = raw.replace(/^\s*\*?\s?/, "").trim();
    const [, name, value = ""] = /^@(\w+)\s*(.*)$/s.exec(line) ?? [];
    if (name !== undefined) {
      current = tags.has(name) ? undefined : [value];
      if (current !== undefined) tags.set(name, current);
    } else if (line !== "") current?.push(line);
  }
  return new Map(Array.from(tags, ([name, lines]) => [name, lines.join(" ").trim()]));
}

/** A template left unchanged, `persistent | one-shot`, means the first. */
function modeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^persistent\s*\|\s*one-shot$/.test(text) ? "persistent" : text;
}

function wrong(tag: string, value: string | undefined, known: readonly string[]): string[] {
  return value === undefined || known.includes(value)
    ? []
    : [`expected @${tag} ${known.join(" or ")}, got ${JSON.stringify(value.slice(0, 80))}`];
}
