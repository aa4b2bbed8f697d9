/**
 * A channel: a way in and out. A module says what the channel can do and opens connections, and a connection serves one
 * account on the platform.
 *
 * What must survive belongs to the core: the cursor, the outbox, people, files, retries and pauses. So a connection can be
 * abandoned at any moment, and for a moment two of them may serve one account: only what the newer one commits counts.
 * A connection never retries by itself, and acknowledges nothing before `Sink.commit` has resolved.
 */
import type { ZodType } from "zod";

import { CortexError } from "../model/errors.ts";
import type { PlaceKind } from "../model/event.ts";
import type { MessageFormat } from "../model/cut-rich-text.ts";
import type { Button, Embed, Part } from "../model/extras.ts";
import type { DeliveryId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";

/** The version of this port. A module of another version is refused. */
export const CHANNEL_API = 1;

/** The default export of a channel's folder or package. */
export interface ChannelModule<Settings = unknown> {
  readonly api: typeof CHANNEL_API;
  /** As in addresses and in the configuration. */
  readonly name: string;
  /** Of one account. Secrets are only ever the names of variables: `tokenEnv`. */
  readonly settings: ZodType<Settings>;
  readonly can: Capabilities;
  /** How a text goes over the wire, one wire for each message. All are stored before the first of them leaves. */
  readonly format: MessageFormat;
  /** What has to be done on the platform, in order, for `cortex channels add` and the page of the channel. */
  readonly setup: readonly SetupStep[];
  /** Optional packages that it needs, as npm installs them: `ws@8.22.2`. Without one, it throws `package_missing`. */
  readonly packages?: readonly string[];
  /**
   * Asks the platform whether everything is there: the token, scopes, intents, privacy mode. Changes nothing. Where the
   * platform refuses or does not answer, it throws as a connection does.
   */
  probe(settings: Settings, ports: ChannelPorts): Promise<readonly Finding[]>;
  /** Does no I/O. */
  open(settings: Settings, ports: ChannelPorts): Connection;
}

/** What a connection gets of Cortex. */
export interface ChannelPorts {
  readonly account: string;
  /** The value of a variable from the environment or `config/.env`. Throws `credentials_missing`. */
  readonly secret: (name: string) => string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: () => number;
  /** Writes a line for the owner. */
  readonly log: (line: string) => void;
  /** Where the platform reaches `handle` of this account. Absent: `server.publicUrl` is not set. */
  readonly webhookUrl?: string;
  /** The content of an outgoing file, by its hash. Throws `attachment_unknown`. */
  readonly readFile: (sha256: string) => Promise<Uint8Array>;
}

export interface SetupStep {
  /** An imperative: "Create a bot with @BotFather". */
  readonly title: string;
  readonly text: string;
  readonly url?: string;
  /** The setting that this step yields. */
  readonly asks?: AskedSetting;
}

export interface AskedSetting {
  /** As in the configuration; dots lead into objects: `imap.host`. */
  readonly setting: string;
  /** Its value goes into `config/.env`, and the setting names the variable. */
  readonly secret: boolean;
  /** What a value looks like. */
  readonly example: string;
  /** Of a secret: the usual name of its variable. Default: made of the channel and the setting, `SLACK_BOT_TOKEN`. */
  readonly variable?: string;
  /** It may be left out. */
  readonly optional?: boolean;
}

/** One thing that a probe found. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  /** In the platform's own words where it said something. */
  readonly message: string;
  readonly hint?: string;
}

export interface Capabilities {
  /** The longest text of one message. */
  readonly maxLength: number;
  /** Whether sent messages can be changed. */
  readonly edit: boolean;
  readonly react: boolean;
  /** Whether the platform shows a menu of commands. */
  readonly commands: boolean;
  readonly threads: "none" | "topic" | "thread";
  readonly startThread: boolean;
  /** How many buttons a message may have. 0: requests are answered by text. */
  readonly buttons: number;
  readonly polls: boolean;
  readonly embeds: boolean;
  readonly voice: boolean;
  /** Absent: no files can be sent. */
  readonly attach?: { readonly maxBytes: number };
  /** How long the platform shows that somebody is typing. Absent: it does not. */
  readonly typingMs?: number;
  /**
   * How an answer is shown while it is written. edit: by a message that is edited. native: by drafts of the platform in
   * direct messages, and by edits elsewhere. Absent: not at all.
   */
  readonly draft?: "edit" | "native";
  /** before: the platform takes a message as read before Cortex has stored it, so a crash may lose it. */
  readonly ack: "after-commit" | "before";
  /** A connection whose last proof of life is older than this is stale. */
  readonly proofMs: number;
  /** Whether a message can be looked for by its key. Otherwise `onUncertain` decides. */
  readonly find: boolean;
  readonly onUncertain: OnUncertain;
  /** What is older is not sent any more. */
  readonly maxAgeMs?: number;
}

/**
 * What is done about a message that may have arrived, where the platform cannot be asked.
 *
 * repeat: the other end knows the key of a message and takes it once. repeat-once: two of it are better than
 * none, three are not. leave: none is better than two; a person decides.
 */
export type OnUncertain = "repeat" | "repeat-once" | "leave";

export interface Connection extends AsyncDisposable {
  /**
   * Reads what comes in until the signal aborts. Returning, or throwing anything but the following, means: connect again,
   * after a pause. `credentials_refused`: a person is needed. `channel_conflict`: another program reads this account.
   */
  receive(sink: Sink, signal: AbortSignal): Promise<void>;
  /** A request to `/in/<channel>[/<account>]`, where the platform sends events by HTTP. Throws `signature_invalid`. */
  handle?(request: PlatformRequest, sink: Sink): Promise<PlatformReply>;
  /** Commits what was missed: messages after those that are known of each place. */
  backfill?(sink: Sink, places: readonly KnownPlace[], signal: AbortSignal): Promise<void>;
  /**
   * Sends one message, once. Throws `delivery_refused` where trying again is useless, `delivery_failed` where nothing was
   * sent and it may work later, with the platform's own pause, and `delivery_uncertain` where the message may have arrived,
   * which is also what an abort leaves. Whatever else it throws counts as uncertain.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt>;
  /** Whether a message with this key has arrived; undefined: it has not. */
  find?(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt | undefined>;
  /** Shows a text in a message that was sent before. May be repeated. */
  edit?(at: MessageAddress, wire: string, signal: AbortSignal): Promise<void>;
  /** Deletes a message of the account. May be repeated. */
  remove?(at: MessageAddress, signal: AbortSignal): Promise<void>;
  /** Sets the account's reaction to a message. */
  react?(at: MessageAddress, emoji: string, signal: AbortSignal): Promise<void>;
  /**
   * Shows how far an answer is written, where drafts are native: it vanishes by itself. An id is of one answer, above 0.
   */
  draft?(
    to: Address,
    draft: { readonly id: number; readonly wire: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Sets the platform's menu of commands. May be repeated. */
  menu?(commands: readonly MenuCommand[], signal: AbortSignal): Promise<void>;
  typing?(to: Address, signal: AbortSignal): Promise<void>;
  /** The content of a file that came with a message. */
  download?(file: FileRef, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** How long the platform's rate limits forbid a message to this address; 0 takes a place in them. */
  paceMs?(to: Address): number;
}

export interface MenuCommand {
  /** Without its slash. */
  readonly word: string;
  /** At most 100 characters. */
  readonly about: string;
}

/** Where a connection leaves what it has received. */
export interface Sink {
  /** As of the last commit. Undefined: nothing was read yet. */
  cursor(): Promise<Json | undefined>;
  /** Stores events and a cursor together. Once it has resolved, they may be acknowledged; until then, nothing may. */
  commit(events: readonly Inbound[], cursor?: Json): Promise<void>;
  /** The receiving transport has just shown that it lives: an empty poll, a heartbeat that was answered. */
  proof(): void;
}

/** What happened on the platform. */
export interface Inbound {
  /** All that makes it unique on its platform and for its account. The same when it is delivered again or backfilled. */
  readonly id: string;
  readonly kind: "message" | "edit" | "delete" | "reaction" | "button" | "command";
  readonly place: InboundPlace;
  readonly sender: InboundSender;
  /** Whether the agent is addressed: by its name, or by a reply to it. */
  readonly mentionsMe: boolean;
  /** The platform's id of the message. Of an edit, a deletion, a reaction or a button: of the message it concerns. */
  readonly messageId: string;
  readonly replyTo?: string;
  /** Whether its sender passes on what somebody else wrote. */
  readonly forwarded?: true;
  /** Without the mention of the agent. Of a reaction: the emoji; of a button: its data. Null: no text. */
  readonly text: string | null;
  readonly files?: readonly FileRef[];
  readonly atMs: number;
  /** As the platform sent it, for hooks. */
  readonly payload?: Json;
}

interface InboundPlace {
  readonly id: string;
  readonly kind: PlaceKind;
  readonly name?: string;
  /** The platform's own thread inside the place. */
  readonly topic?: string;
  /** The place around it, such as the server of a channel. */
  readonly parent?: string;
}

interface InboundSender {
  readonly id: string;
  readonly name?: string;
  readonly bot: boolean;
  /** It is the account itself: an echo, which is dropped. */
  readonly self: boolean;
}

export interface FileRef {
  /** How the platform finds it. */
  readonly id: string;
  readonly name: string;
  readonly contentType?: string;
  readonly bytes?: number;
  readonly kind: "image" | "audio" | "voice" | "video" | "file";
}

export interface KnownPlace {
  readonly place: string;
  readonly topic: string | undefined;
  readonly kind: PlaceKind | undefined;
  readonly messageId: string;
  readonly atMs: number;
}

export interface PlatformRequest {
  readonly method: string;
  readonly query: Readonly<Record<string, string>>;
  readonly header: (name: string) => string | undefined;
  readonly body: Uint8Array;
}

export interface PlatformReply {
  readonly status: number;
  readonly contentType?: string;
  readonly body?: string;
}

export interface Address {
  readonly channel: string;
  readonly account?: string;
  readonly place: string;
  readonly topic?: string;
}

interface MessageAddress extends Address {
  readonly messageId: string;
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
  /** As the format made it. Of a part: the same as JSON. */
  readonly content: string;
  /** Instead of a text. Only parts that the channel can send come here. The receipt of a thread names its topic. */
  readonly part?: Part;
  /** Only the last message of a text has them. */
  readonly buttons?: readonly Button[];
  /** Only the last message of a text has it, and only where the channel shows embeds. */
  readonly embed?: Embed;
  /** The platform's id of the message that this one replaces, which may be repeated. */
  readonly edits?: string;
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

/** The platform does not take the credentials, or took rights away that are needed. */
export function credentialsRefused(message: string, options: { hint: string; cause?: unknown }): CortexError {
  return new CortexError("credentials_refused", message, options);
}

/** Another program reads the same account. */
export function channelConflict(message: string, options: { hint: string; cause?: unknown }): CortexError {
  return new CortexError("channel_conflict", message, { ...options, transient: true });
}

/** An optional package is not there. `spec` is what npm installs: `ws@8.22.2`. */
export function packageMissing(spec: string, cause?: unknown): CortexError {
  return new CortexError("package_missing", `The package ${spec} is not installed`, {
    hint: `Run \`cortex channels add\` again, which offers to install it, or \`npm install ${spec}\` beside Cortex.`,
    cause,
  });
}
