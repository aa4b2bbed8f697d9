/**
 * What a model says about how its answer is to be sent, written into the answer itself:
 * `[[reply_to_current]]`, `[[reply_to:<id>]]`, `[[audio_as_voice]]`, and `NO_REPLY` alone for no answer at all.
 * Tags are taken out of the text; inside code they are text like any other.
 */
import { SILENCE } from "../model/reply-tool.ts";
import { afterLine, type Fence } from "./fences.ts";

interface Reply {
  /** The answer without its tags. */
  readonly text: string;
  /** The message that it answers: the one that the turn is about, or the platform's id of another. */
  readonly replyTo: "current" | { readonly id: string } | undefined;
  /** Whether audio is to be sent as a voice note. */
  readonly voice: boolean;
  /** Whether nothing is to be sent. */
  readonly silent: boolean;
}

export const MAX_REPLY_ID_LENGTH = 256;

/** No model writes more. What a program answers beyond this is sent as it is. */
export const MAX_TAGGED_LENGTH = 512 * 1024;

const TAG =
  /\[\[[ \t]{0,8}(reply_to_current|audio_as_voice|reply_to[ \t]{0,8}:([^[\]\n]{1,300}))[ \t]{0,8}\]\]/gi;

export function parseReply(answer: string): Reply {
  const tags: string[] = [];
  const text =
    answer.length <= MAX_TAGGED_LENGTH && answer.includes("[[") ? withoutTags(answer, tags) : answer;
  const id = tags.map(idOf).find((each) => each !== undefined);
  const isCurrent = tags.some((tag) => tag.toLowerCase() === "reply_to_current");
  const content = text.trim();
  return {
    text,
    replyTo: id === undefined ? (isCurrent ? "current" : undefined) : { id },
    voice: tags.some((tag) => tag.toLowerCase() === "audio_as_voice"),
    silent: content === "" || content === SILENCE,
  };
}

/** An id that no platform could have given is passed over, and its tag is taken out all the same. */
function idOf(tag: string): string | undefined {
  const colon = tag.indexOf(":");
  const id = tag.slice(colon + 1).trim();
  if (colon < 0 || id === "" || id.length > MAX_REPLY_ID_LENGTH || /[\p{Cc}\p{Cs}]/u.test(id))
    return undefined;
  return id;
}

function withoutTags(answer: string, tags: string[]): string {
  const kept: string[] = [];
  let fence: Fence | undefined;
  for (const line of answer.split("\n")) {
    const inCode = fence !== undefined;
    fence = afterLine(fence, line);
    const rest = inCode ? line : stripLine(line, tags);
    if (rest.trim() !== "" || rest === line) kept.push(rest); // a line of nothing but tags goes with them
  }
  return tags.length === 0
    ? answer
    : kept
        .join("\n")
        .replace(/^\s*\n/, "")
        .trimEnd();
}

function stripLine(line: string, tags: string[]): string {
  if (!line.includes("[[") || !line.includes("]]")) return line;
  const code = line.includes("`") ? codeSpans(line) : [];
  const parts: string[] = [];
  let span = 0;
  let at = 0;
  for (const match of line.matchAll(TAG)) {
    while (span < code.length && code[span]![1] < match.index) span++;
    if (span < code.length && code[span]![0] < match.index) continue;
    tags.push(match[1]!);
    parts.push(line.slice(at, match.index));
    at = match.index + match[0].length;
  }
  return parts.length === 0 ? line : joinParts([...parts, line.slice(at)]);
}

/** Blanks on both sides of a tag become those of its left side, so that words do not drift apart. */
function joinParts(parts: readonly string[]): string {
  const kept: string[] = [];
  for (const [index, part] of parts.entries()) {
    const isAfterBlank = /^\s?$/.test(kept.at(-1)?.slice(-1) ?? "");
    const rest = index > 0 && isAfterBlank ? part.trimStart() : part;
    if (rest !== "") kept.push(rest);
  }
  return kept.join("");
}

/** Where code stands within a line: between a run of backticks and the next run of the same length. */
function codeSpans(line: string): readonly (readonly [number, number])[] {
  const runs = [...line.matchAll(/`+/g)].map(({ index, 0: run }) => ({ start: index, length: run.length }));
  const nextOfLength = new Map<number, number>();
  const closers = runs.map(() => -1);
  for (let i = runs.length - 1; i >= 0; i--) {
    closers[i] = nextOfLength.get(runs[i]!.length) ?? -1;
    nextOfLength.set(runs[i]!.length, i);
  }
  const spans: [number, number][] = [];
  for (let i = 0; i < runs.length; i++) {
    const closer = closers[i]!;
    if (closer < 0) continue;
    spans.push([runs[i]!.start, runs[closer]!.start]);
    i = closer;
  }
  return spans;
}
