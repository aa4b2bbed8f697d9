/** Commands that a feature adds to chats, such as `!team status`. */
import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Principal } from "../model/principal.ts";
import type { Caller } from "../model/scopes.ts";
import type { SessionKey } from "../model/session-key.ts";

export interface ChatCommands {
  /** One line for each, as `/help` shows them. */
  readonly usage: readonly string[];
  /** Of these, what may be used on platforms by others than the owner alone. */
  readonly usageFor?: Readonly<Record<Exclude<ChatAccess, "owner">, readonly string[]>>;
  /** As platforms list them in a menu. */
  readonly menu?: readonly MenuEntry[];
  /** What to do for the command that a text holds. Undefined: it is not one of these. Throws if it is one and malformed. */
  parse(text: string): ChatCommand | undefined;
}

/**
 * Who may use a command on a platform. owner: the owner, where nobody else reads the reply. room: the owner, also in rooms;
 * it reveals what is the room's own, and nothing else. member: also members, for what they have started themselves.
 */
export type ChatAccess = "owner" | "room" | "member";

interface MenuEntry {
  /** Without its slash. */
  readonly word: string;
  readonly about: string;
}

export interface ChatCommand {
  readonly access: ChatAccess;
  /** Carries it out, and gives the reply. Doing so again for the same event changes nothing. */
  run(origin: ChatOrigin): Promise<string>;
}

/** Where a command was typed. */
export interface ChatOrigin {
  readonly session: SessionKey;
  /** The message that holds it. */
  readonly event: EventId;
  /** Default: the owner. */
  readonly caller?: Caller | undefined;
  /** The member who typed it: only what they have started is theirs. Absent: the owner. */
  readonly member?: Principal | undefined;
  readonly profile?: string | undefined;
  /** Where the answer to the message would be delivered. */
  readonly delivery?: Json | undefined;
  /** Who reads what comes of it, if others than the owner do. */
  readonly audience?: string | undefined;
  /** Aborts the turn that runs in the session, as far as whoever typed it may. False: none runs. */
  readonly stopTurn?: () => Promise<boolean>;
}
