import type { Channel } from "../channels/channel.ts";
import { MAX_CHUNKS_IN_DELIVERY } from "../store/store.ts";
import { chunkText } from "./chunk-text.ts";
import { nothingToSend, tooManyChunks } from "./failure.ts";

/** The messages that an answer becomes on a channel. Platforms refuse blank ones, so there are none. */
export function planChunks(content: string, channel: Channel): string[] {
  const chunks = chunkText(channel.formatText(content), channel.limits).filter(
    (chunk) => chunk.trim() !== "",
  );
  if (chunks.length === 0) throw nothingToSend();
  if (chunks.length > MAX_CHUNKS_IN_DELIVERY) throw tooManyChunks(chunks.length, MAX_CHUNKS_IN_DELIVERY);
  return chunks;
}
