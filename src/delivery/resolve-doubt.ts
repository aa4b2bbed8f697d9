import type { OutgoingMessage } from "../channels/channel.ts";
import { withDeadline } from "./deadline.ts";
import { describe, inDoubt } from "./failure.ts";
import { allowRepeat, die, isRepeat, recordFailure, recordSent, type Work } from "./work.ts";

/** new: it has not arrived. repeat: it may have, and is sent all the same. sent: it has. ended: not now. */
type Resolution = "new" | "repeat" | "sent" | "ended";

/**
 * Decides about a message that may have arrived. A channel that allows one repetition has that written down
 * before anything leaves, so that a crash in between cannot make two of it.
 */
export async function resolveDoubt(message: OutgoingMessage, work: Work): Promise<Resolution> {
  const { channel, course } = work;
  const place = message.chunk;
  if (channel.find !== undefined) {
    const search = await find(message, work);
    if (search.kind === "missing") return "new";
    if (search.kind === "found") await recordSent(place, search.platformId, work);
    else await recordFailure(search.error, { place, doubtful: true }, work);
    return search.kind === "found" ? "sent" : "ended";
  }
  if (channel.onUncertain === "repeat" || course.revived) return "repeat";
  if (channel.onUncertain === "repeat-once" && !isRepeat(place, work)) {
    await allowRepeat(place, work);
    return "ended";
  }
  await die(describe(inDoubt(place)), work);
  return "ended";
}

type Search =
  | { readonly kind: "found"; readonly platformId: string | undefined }
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly error: unknown };

async function find(message: OutgoingMessage, { channel, cut }: Work): Promise<Search> {
  try {
    const found = await withDeadline(async (signal) => channel.find?.(message, signal), cut);
    return found === undefined ? { kind: "missing" } : { kind: "found", platformId: found.platformId };
  } catch (error) {
    return { kind: "failed", error };
  }
}
