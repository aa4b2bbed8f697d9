import type { Question } from "../agent.ts";

const MIN_CHUNK_LENGTH = 24;
/** Whoever watches is told at most about this many times, however long the text is. */
export const MAX_CHUNKS = 200;

/** Says a text piece by piece, as a model would, and gives back what of it was said before the signal. */
export function say(text: string, listener: Pick<Question, "onDelta" | "signal">): string {
  let end = 0;
  for (const chunk of chunks(text)) {
    if (listener.signal.aborted) break;
    listener.onDelta({ kind: "text", text: chunk });
    end += chunk.length;
  }
  return text.slice(0, end);
}

/** Pieces of about the same length that end after a word where there is one. */
export function* chunks(text: string): Generator<string> {
  const length = Math.max(MIN_CHUNK_LENGTH, Math.ceil(text.length / MAX_CHUNKS));
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + length, text.length);
    const last = Math.min(end + length, text.length);
    while (end < last && !isSpace(text[end - 1]!)) end++;
    // Half of a character is not text.
    if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end++;
    yield text.slice(start, end);
    start = end;
  }
}

function isSpace(character: string): boolean {
  return character === " " || character === "\n";
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
