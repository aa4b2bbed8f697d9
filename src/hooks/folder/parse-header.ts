/** What a hook's file says about itself, read from its text: nothing is run for it. */
import type { HookMode, HookOrigin } from "../../store/store.ts";

export interface Header {
  readonly title?: string;
  readonly description?: string;
  readonly mode?: HookMode;
  readonly origin?: HookOrigin;
  readonly startsDisabled?: true;
  /** A tag whose value means nothing: the hook would not do what its author thinks. */
  readonly error?: string;
}

/** hook: it is to be loaded. unfinished: it looks like a hook and exports none. other: it is none of ours. */
export type Kind = "hook" | "unfinished" | "other";

/** A list ends before the next brace, so that looking for the end of each never reads the rest of the file again. */
const EXPORTS = /(?:^|[;}])[ \t]*export\s+(?:(?<one>default\b|const\s+hook\b)|\{(?<list>[^{}]*)\})/gm;
const AS_HOOK = /\b(?:as\s+default|hook)\b/;
/** The folder also holds scripts of relays, which have neither. */
const LOOKS_LIKE_ONE = /\bHookContext\b|["']cortexd\/hooks["']/;
const COMMENT = /^(?:﻿)?(?:#!.*\n)?(?:\s|\/\/.*\n)*\/\*\*(?<text>[\s\S]*?)\*\//;

export function kindOf(text: string): Kind {
  for (const { groups } of text.matchAll(EXPORTS))
    if (groups!["one"] !== undefined || AS_HOOK.test(groups!["list"]!)) return "hook";
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

/** Of the first comment; a text goes on over several lines until the next tag. */
function tagsOf(text: string): ReadonlyMap<string, string> {
  const comment = COMMENT.exec(text)?.groups!["text"] ?? "";
  const tags = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const raw of comment.split("\n")) {
    const line = raw.replace(/^\s*\*?\s?/, "").trim();
    const tag = /^@(?<name>\w+)\s*(?<value>.*)$/s.exec(line)?.groups;
    if (tag !== undefined) {
      current = tags.has(tag["name"]!) ? undefined : [tag["value"]!];
      if (current !== undefined) tags.set(tag["name"]!, current);
    } else if (line !== "") current?.push(line);
  }
  return new Map(Array.from(tags, ([name, lines]) => [name, lines.join(" ").trim()]));
}

/** A template that was left as it is, `persistent | one-shot`, means the first. */
function modeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^persistent\s*\|\s*one-shot$/.test(text) ? "persistent" : text;
}

function wrong(tag: string, value: string | undefined, known: readonly string[]): string[] {
  return value === undefined || known.includes(value)
    ? []
    : [`@${tag} is ${known.join(" or ")}, and not ${JSON.stringify(value.slice(0, 80))}`];
}
