import type { SessionKey } from "../model/session-key.ts";

/** The door through which messages of the command line come. */
export const CHANNEL = "cli";

/** Where the words of a chat go, and with what they are answered. */
export interface Talk {
  readonly session: SessionKey;
  readonly profile: string | undefined;
}

/** A message as the server takes it; what is undefined is left out on the way. */
export type NewMessage = Readonly<Record<string, string | boolean | undefined>>;

export function messageOf(content: string, { session, profile }: Talk, mode?: string): NewMessage {
  return { content, session, profile, mode, channel: CHANNEL };
}
