/** Patterns of transitions. They are matched in `patterns/`, in a thread that can be ended. */
import { ownerPatterns } from "../../patterns/matcher.ts";

/** So much of a text is matched, its end. */
export const MAX_MATCHED_CHARACTERS = 256 * 1024;

/** Whether a pattern occurs anywhere in a text. Throws `pattern_refused`. */
export async function matches(pattern: string, text: string): Promise<boolean> {
  const [found] = await ownerPatterns.test([pattern], [text.slice(-MAX_MATCHED_CHARACTERS)]);
  return found![0]!;
}
