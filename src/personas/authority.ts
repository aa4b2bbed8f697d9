/**
 * Who sent a message decides what it may do.
 *
 * The owner is whoever holds the token, and comes through the doors that ask for it. Sources are programs that the
 * owner named in the configuration: they act for their agent's persona, and what they say is not to be trusted.
 * Everybody else is a guest until the owner has paired them.
 */
import type { Config } from "../config/config.ts";
import { FILES_ADAPTER, OWNER_ADAPTERS, TIMER_ADAPTER, WEBHOOK_ADAPTER } from "../model/event.ts";
import type { Json } from "../model/json.ts";
import type { NewEvent } from "../store/store.ts";

export type Authority = "owner" | "paired" | "source" | "guest";

/** What a message of this sender may do. */
export type Grant =
  /** All that the agent may. */
  | { readonly authority: "owner" }
  /** At most this, which is kept with the dispatch. */
  | { readonly authority: "paired" | "source"; readonly permissions: Json }
  /** Nothing: the message is recorded, and has no dispatch. */
  | { readonly authority: "guest" };

export type SenderIdentity = Pick<NewEvent, "channel" | "sender">;

/** As the owner is called on the channels below. */
const OWNER = "owner";
const CHANNELS_OF_THE_OWNER: ReadonlySet<string> = new Set(OWNER_ADAPTERS);
const CHANNELS_OF_SOURCES: ReadonlySet<string> = new Set([WEBHOOK_ADAPTER, TIMER_ADAPTER, FILES_ADAPTER]);

export function grantFor({ channel, sender }: SenderIdentity, config: Config): Grant {
  if (CHANNELS_OF_THE_OWNER.has(channel) && sender === OWNER) return { authority: "owner" };
  if (CHANNELS_OF_SOURCES.has(channel)) {
    return { authority: "source", permissions: { authority: "source" } };
  }
  const paired = config.channels.paired.find((entry) => entry.channel === channel && entry.sender === sender);
  if (paired === undefined) return { authority: "guest" };
  return {
    authority: "paired",
    permissions: { ...paired.permissions, authority: "paired" },
  };
}

export function authorityOf(sender: SenderIdentity, config: Config): Authority {
  return grantFor(sender, config).authority;
}
