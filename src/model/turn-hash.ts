/**
 * The hash chain. A turn's hash covers its parent's hash and everything that was said and done in the
 * turn, so whoever knows the hash of a head can tell whether anything before it was changed.
 */
import { hash } from "node:crypto";

/** A message as it is stored. `body` is canonical JSON already, and is hashed as that text. */
export interface HashedMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly body: string | null;
  readonly atMs: number;
}

/** A tool call as it is stored; `params` and `result` are canonical JSON already. */
export interface HashedToolCall {
  readonly ordinal: number;
  readonly callId: string;
  readonly tool: string;
  readonly params: string;
  readonly status: string;
  readonly result: string | null;
  readonly childSession: string | null;
  readonly startedAtMs: number;
  readonly completedAtMs: number | null;
}

export function turnHash(
  parentHash: Uint8Array | undefined,
  messages: readonly HashedMessage[],
  toolCalls: readonly HashedToolCall[],
): Buffer {
  const parent = parentHash === undefined ? "" : Buffer.from(parentHash).toString("hex");
  return hash("sha256", parent + canonicalTurn(messages, toolCalls), "buffer");
}

/** Lists instead of objects: their order is fixed, so this JSON has one form. */
function canonicalTurn(messages: readonly HashedMessage[], toolCalls: readonly HashedToolCall[]): string {
  return JSON.stringify([
    messages.map((message) => [message.id, message.role, message.content, message.body, message.atMs]),
    toolCalls.map((call) => [
      call.ordinal,
      call.callId,
      call.tool,
      call.params,
      call.status,
      call.result,
      call.childSession,
      call.startedAtMs,
      call.completedAtMs,
    ]),
  ]);
}
