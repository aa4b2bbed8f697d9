/** Commands that a feature adds to chats, such as `!team status`. */
import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Caller } from "../model/scopes.ts";
import type { SessionKey } from "../model/session-key.ts";

export interface ChatCommands {
  /** One line for each, as `/help` shows them. */
  readonly usage: readonly string[];
  /** What to do for the command that a text holds. Undefined: it is not one of these. Throws if it is one and malformed. */
  parse(text: string): ChatCommand | undefined;
}

/** Carries a command out, and gives the reply. Doing so again for the same event changes nothing. */
export type ChatCommand = (origin: ChatOrigin) => Promise<string>;

/** Where a command was typed. */
export interface ChatOrigin {
  readonly session: SessionKey;
  /** The message that holds it. */
  readonly event: EventId;
  /** Default: the owner. */
  readonly caller?: Caller | undefined;
  readonly profile?: string | undefined;
  /** Where the answer to the message would be delivered. */
  readonly delivery?: Json | undefined;
}
