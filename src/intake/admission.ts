/**
 * Whether a message on a chat channel is answered: by what the configuration says of the account. A message that is not is
 * recorded all the same, with the reason, and no hook is asked.
 */
import type { Conversation } from "../config/channel-accounts.ts";
import { isJsonObject } from "../model/json.ts";
import type { NewEvent } from "../store/store.ts";

export interface Admission {
  readonly answered: boolean;
  /** Why, for people: `not addressed`. */
  readonly reason: string;
}

type Said = Pick<NewEvent, "sender" | "place" | "placeKind" | "mentionsMe" | "metadata" | "contentType">;

/** Of a message of somebody who may talk. */
export function admit(
  { sender, place, placeKind = "dm", mentionsMe, metadata, contentType }: Said,
  { allow, groups }: Conversation,
): Admission {
  const isBot = isJsonObject(metadata) && metadata["is_bot"] === true;
  const isListed = [sender, place].some((id) => id !== undefined && allow.includes(id));
  if (allow.length > 0 && !isListed) return refused("not in `allow`");
  // Two bots that answer each other would never end. One that is named is meant.
  if (isBot && (sender === undefined || !allow.includes(sender))) return refused("sent by a bot");
  if (placeKind === "dm") return { answered: true, reason: "a direct message" };
  switch (groups) {
    case "off":
      return refused("groups are off");
    case "all":
      return { answered: true, reason: "all messages in groups" };
    case "mention":
      return mentionsMe === true || isMeant(contentType)
        ? { answered: true, reason: "addressed" }
        : refused("not addressed");
  }
}

/** Whoever presses a button or reacts means the agent whose message it is. */
function isMeant(contentType = "text"): boolean {
  return contentType === "button" || contentType === "reaction";
}

function refused(reason: string): Admission {
  return { answered: false, reason };
}
