/**
 * The other end of a channel, for the conformance kit: the platform, played on loopback. It speaks the platform's own
 * protocol, keeps what it was sent, and does what platforms do on bad days.
 *
 * The kit numbers people, groups and topics from 0, and the counterpart gives them ids of the platform's form: the same on
 * every call. A direct message is the place of its person. Nothing here waits for the channel.
 */
import type { Json } from "../../model/json.ts";

export interface Counterpart extends AsyncDisposable {
  /** The channel's entry in `channels`, as far as it concerns the platform. */
  readonly settings: Readonly<Record<string, Json>>;
  /** The variables that the settings name, with the values that the platform takes. */
  readonly variables: Readonly<Record<string, string>>;

  /** The id of a person, as events have it. */
  sender(person: number): string;
  /** The ids of a place, as events and sent messages have them. */
  place(where: Where): PlaceIds;

  /** Somebody writes a message. Returns its id. */
  say(message: PlayedMessage): string;
  /** The rest is absent where the platform does not tell bots about it, or has no such thing. */
  edit?(at: PlayedAt, text: string): void;
  remove?(at: PlayedAt): void;
  react?(at: PlayedAt, emoji: string): void;
  /** Somebody presses a button below a message of the account. */
  press?(at: PlayedAt, data: string): void;

  /** The messages that the account has sent, in order, as they look now. */
  readonly sent: readonly SentMessage[];
  /** How many messages and other events the channel has not acknowledged. */
  readonly unacknowledged: number;
  /** How many receiving connections are open: sockets, or polls that wait. */
  readonly receivers: number;
  /** What the channel did against the platform's description, in words. */
  readonly violations: readonly string[];

  /** Cuts all connections now. */
  cut(): void;
  /** From now on, every answer takes this long. */
  delay(ms: number): void;
  /** The receiving connections of now stay open and bring nothing more, neither events nor signs of life. New ones work. */
  deafen(): void;
  /** What becomes of the next messages that are sent, one fault each. */
  failSends(...faults: readonly SendFault[]): void;
  /** From now on, the credentials are not taken. Receiving connections end, as the platform ends them. */
  revoke(): void;
  /** Removes the account from a place: it cannot send there any more. */
  expel(where: Where): void;
}

/** A place, by numbers. */
export type Where =
  | { readonly kind: "dm"; readonly person: number }
  /** A topic only where the channel has threads. */
  | { readonly kind: "group"; readonly group: number; readonly topic?: number };

export interface PlaceIds {
  readonly place: string;
  readonly topic?: string;
}

/** A message, and who does something with it. */
export interface PlayedAt {
  readonly where: Where;
  readonly messageId: string;
  readonly person: number;
}

export interface PlayedMessage {
  readonly where: Where;
  readonly person: number;
  /** Without the mention. */
  readonly text: string;
  /** Whether it addresses the account by its name, as people do it on the platform. */
  readonly mention?: boolean;
  /** The id of the message that it answers. */
  readonly replyTo?: string;
  readonly files?: readonly PlayedFile[];
  /** Whether the sender is a bot. */
  readonly bot?: boolean;
  /** The account itself has written it: an echo, where the platform sends such. */
  readonly self?: boolean;
}

export interface PlayedFile {
  readonly name: string;
  readonly contentType: string;
  /** Undefined: the platform names the file, and does not give it. */
  readonly content: Uint8Array | undefined;
  /** As the platform tells it. By default, the size of the content. */
  readonly bytes?: number;
}

export interface SentMessage {
  readonly id: string;
  readonly place: string;
  readonly topic?: string;
  /** As a reader sees it. Only letters and digits are compared, so marks of formatting may stay. */
  readonly text: string;
  /** The id of the message that it answers. */
  readonly replyTo?: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
  readonly files: readonly { readonly name: string; readonly content: Uint8Array }[];
}

export type SendFault =
  /** Not taken: too many requests. */
  | { readonly kind: "rate-limit"; readonly pauseMs: number }
  /** Taken, and the connection is cut before the answer. */
  | { readonly kind: "accept-then-cut" }
  /** Not taken, and the connection is cut. */
  | { readonly kind: "cut" };
