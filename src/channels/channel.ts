/**
 * A channel: a way out to people and programs. This is what the delivery step needs of one; everything that
 * is special about a platform stays behind it.
 *
 * A channel only sends. What is sent, when, how often and in which order is decided by the delivery step,
 * which keeps it in the store; so a channel holds nothing that must survive.
 */
import { CortexError } from "../model/errors.ts";
import type { DeliveryId, TurnId } from "../model/ids.ts";

export interface Channel {
  /** As in addresses and in the config: `webhook`, `telegram`. */
  readonly name: string;
  readonly limits: ChannelLimits;
  readonly onUncertain: OnUncertain;

  /** From the markdown that models write to what the platform shows. Pure; longer texts stay longer. */
  formatText(markdown: string): string;

  /** False while it connects or has no credentials. What waits then is not charged with an attempt. */
  isReady(): boolean;

  /**
   * How long the platform's rate limits forbid a message to this address; 0 takes a place in them. Absent:
   * there are no limits, or the platform says so itself, with `retryAfterMs`.
   */
  paceMs?(address: Address): number;

  /**
   * Sends one message. Resolves once the platform has taken it.
   *
   * Throws `delivery_refused` where trying again is useless, `delivery_failed` where nothing was sent and it
   * may work later, and `delivery_uncertain` where the message may have arrived, which is also what an abort
   * of the signal leaves. Whatever else it throws counts as uncertain.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt>;

  /** Whether a message with this key has arrived; undefined: it has not. Absent: the platform cannot tell. */
  find?(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt | undefined>;
}

/**
 * What is done about a message that may have arrived, where the platform cannot be asked.
 *
 * repeat: the other end knows the key of a message and takes it once. repeat-once: two of it are better than
 * none, three are not. leave: none is better than two; a person decides.
 */
type OnUncertain = "repeat" | "repeat-once" | "leave";

interface ChannelLimits {
  /** The longest text of one message. */
  readonly maxLength: number;
  /** How the platform counts a text; in UTF-16 units unless told. A longer text never counts less. */
  readonly measure?: (text: string) => number;
  /** What is older is not sent any more: nobody wants last week's answers after a restart. */
  readonly maxAgeMs?: number;
  /** How often a message may fail. */
  readonly maxAttempts?: number;
}

/** Unless a channel says otherwise. An hour is long for a conversation. */
export const DEFAULT_MAX_AGE_MS = 60 * 60_000;
export const DEFAULT_MAX_ATTEMPTS = 10;

interface Address {
  readonly channel: string;
  readonly account?: string;
  readonly place: string;
  readonly topic?: string;
}

/** One message to one address: a whole answer, or the part of it that fits. */
export interface OutgoingMessage {
  /** The same over all attempts and restarts, and of no other message: `<delivery id>-<chunk>`. */
  readonly key: string;
  readonly delivery: DeliveryId;
  readonly turn: TurnId | undefined;
  readonly address: Address;
  /** Counted from 0. */
  readonly chunk: number;
  readonly chunks: number;
  readonly content: string;
  /** The platform's id of the message that this one answers. Only the first chunk has it. */
  readonly replyTo: string | undefined;
  /** How often the delivery was taken up, this time included. */
  readonly attempt: number;
  /** Whether an earlier attempt may have arrived. */
  readonly repeat: boolean;
}

export interface Receipt {
  readonly platformId?: string;
}

export function deliveryRefused(message: string, options: { hint: string; cause?: unknown }): CortexError {
  return new CortexError("delivery_refused", message, options);
}

export function deliveryFailed(
  message: string,
  options: { hint: string; retryAfterMs?: number | undefined; cause?: unknown },
): CortexError {
  return new CortexError("delivery_failed", message, { ...options, transient: true });
}

export function deliveryUncertain(message: string, options: { hint: string; cause?: unknown }): CortexError {
  return new CortexError("delivery_uncertain", message, { ...options, transient: true });
}
