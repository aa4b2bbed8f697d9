import type { Channel } from "../channels/channel.ts";
import { inSlices, type Sliced } from "../model/in-slices.ts";
import { MAX_CHUNKS_IN_DELIVERY } from "../store/store.ts";
import { chunkText } from "./chunk-text.ts";
import { nothingToSend, tooManyChunks } from "./failure.ts";

/** The messages that an answer becomes on a channel. Platforms refuse blank ones, so there are none. */
export async function planChunks(content: string, channel: Channel): Promise<string[]> {
  const chunks = await inSlices(messagesOf(content, channel));
  if (chunks.length === 0) throw nothingToSend();
  return chunks;
}

function* messagesOf(content: string, channel: Channel): Sliced<string[]> {
  const chunks: string[] = [];
  for (const chunk of chunkText(channel.formatText(content), channel.limits)) {
    if (chunk.trim() !== "") chunks.push(chunk);
    if (chunks.length > MAX_CHUNKS_IN_DELIVERY) throw tooManyChunks(MAX_CHUNKS_IN_DELIVERY);
    yield;
  }
  return chunks;
}
