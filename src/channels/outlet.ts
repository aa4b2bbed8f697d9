/**
 * What the delivery step needs of an account of a channel. An outlet only sends: what is sent, when, how often and in
 * which order is decided by the delivery step, which keeps it in the store.
 */
import type { DeliveryId, TurnId } from "../model/ids.ts";
import type { Capabilities, Connection, OnUncertain } from "./channel.ts";

export interface Outlet extends Pick<Connection, "send" | "find" | "paceMs"> {
  readonly name: string;
  readonly limits: OutletLimits;
  readonly onUncertain: OnUncertain;
  /** What it can send beside text. */
  readonly can: OutletCan;

  /**
   * The messages of a Markdown text, as they go over the wire. Pure. Texts may be megabytes long: undefined is where the
   * work can pause.
   */
  render(markdown: string): Generator<string | undefined>;

  /**
   * The platform's id of the draft that a delivery of a turn replaces. Once it resolves, nothing else changes that message.
   */
  replacedBy?(delivery: DeliveryId, turn: TurnId): Promise<string | undefined>;

  /** That draft cannot be replaced: it is gone. */
  forgetDraft?(turn: TurnId): Promise<void>;

  /** False while it connects or has no credentials. What waits then is not charged with an attempt. */
  isReady(): boolean;
}

export type OutletCan = Pick<
  Capabilities,
  "attach" | "buttons" | "edit" | "embeds" | "polls" | "startThread" | "voice"
>;

export const TEXT_ONLY: OutletCan = {
  buttons: 0,
  edit: false,
  embeds: false,
  polls: false,
  startThread: false,
  voice: false,
};

interface OutletLimits {
  /** What is older is not sent any more: nobody wants last week's answers after a restart. */
  readonly maxAgeMs?: number;
  /** How often a message may fail. */
  readonly maxAttempts?: number;
}

/** Unless a channel says otherwise. An hour is long for a conversation. */
export const DEFAULT_MAX_AGE_MS = 60 * 60_000;
export const DEFAULT_MAX_ATTEMPTS = 10;
