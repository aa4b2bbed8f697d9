/** What a delivery sends beside its text: a thread goes first, files and a poll last, each as a chunk of its own. */
import type { OutgoingMessage } from "../channels/channel.ts";
import type { Extras, Part } from "../model/extras.ts";

interface Parts {
  readonly before: readonly Part[];
  readonly after: readonly Part[];
}

export function partsOf({ thread, files = [], poll }: Extras): Parts {
  return {
    before: thread === undefined ? [] : [{ kind: "thread", ...thread }],
    after: [
      ...files.map((file): Part => ({ kind: "file", ...file })),
      ...(poll === undefined ? [] : [{ kind: "poll" as const, ...poll }]),
    ],
  };
}

/** What a chunk carries beside its content. */
export function carriedBy(
  place: number,
  chunks: number,
  extras: Extras,
): Pick<OutgoingMessage, "part" | "buttons" | "embed" | "edits"> {
  const { before, after } = partsOf(extras);
  const text = place - before.length;
  const texts = chunks - before.length - after.length;
  const part = before[place] ?? after[text - texts];
  if (part !== undefined) return { part };
  const { buttons, embed, edits } = extras;
  const isLast = text === texts - 1;
  return {
    ...(isLast && buttons !== undefined ? { buttons } : {}),
    ...(isLast && embed !== undefined ? { embed } : {}),
    ...(text === 0 && edits !== undefined ? { edits } : {}),
  };
}
