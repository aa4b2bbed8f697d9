/** Names of people and places, and who may be in a place. Asked for when they are first seen. */
import type { PlaceKind } from "../../model/event.ts";
import { present } from "../../model/present.ts";
import { remember } from "../../model/remember.ts";
import type { SlackApi } from "./api.ts";

export interface Directory {
  /** Undefined: Slack does not say. */
  person(id: string): Promise<string | undefined>;
  place(id: string): Promise<{ readonly kind: PlaceKind; readonly name?: string } | undefined>;
}

interface Found {
  readonly user?: { readonly real_name?: string; readonly profile?: { readonly display_name?: string } };
  readonly channel?: Conversation;
}

interface Conversation {
  readonly name?: string;
  readonly is_im?: boolean;
  readonly is_mpim?: boolean;
  readonly is_private?: boolean;
}

const MAX_KNOWN = 2_000;
/** Slack delivers again what is not acknowledged after 3 seconds. */
const TIMEOUT_MS = 2_500;

export function openDirectory(api: SlackApi): Directory {
  const known = new Map<string, Promise<Found>>();
  const { signal } = new AbortController();
  async function find(method: string, what: "user" | "channel", id: string): Promise<Found> {
    const found = known.get(id) ?? api.call<Found>(method, { [what]: id }, { signal, timeoutMs: TIMEOUT_MS });
    remember(known, [id, found], MAX_KNOWN);
    return found.catch(() => {
      known.delete(id); // asked again the next time
      return {};
    });
  }
  return {
    async person(id) {
      const { user } = await find("users.info", "user", id);
      return user?.profile?.display_name || user?.real_name;
    },
    async place(id) {
      const { channel } = await find("conversations.info", "channel", id);
      return channel && { kind: kindOf(channel), ...present({ name: channel.name }) };
    },
  };
}

function kindOf({ is_im: isDm, is_mpim: isGroupDm, is_private: isPrivate }: Conversation): PlaceKind {
  if (isDm === true) return "dm";
  return isGroupDm === true || isPrivate === true ? "group" : "channel";
}
