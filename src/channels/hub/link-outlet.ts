import { renderRichText } from "../../model/cut-rich-text.ts";
import { parseRichText } from "../../model/parse-rich-text.ts";
import {
  type Capabilities,
  type ChannelModule,
  type Connection,
  deliveryFailed,
  type OutgoingMessage,
} from "../channel.ts";
import { type Outlet, TEXT_ONLY } from "../outlet.ts";
import type { Drafts } from "./drafts.ts";
import type { Link } from "./link.ts";

/** The way out of an account, through whatever connection it has at the time. */
export function linkOutlet(
  { name, can, format }: Pick<ChannelModule, "name" | "can" | "format">,
  link: Link,
  drafts?: Pick<Drafts, "replacedBy" | "forget">,
): Outlet {
  const connection = (): Connection => {
    if (link.connection === undefined) throw disconnected(name);
    return link.connection;
  };
  return {
    name,
    limits: can.maxAgeMs === undefined ? {} : { maxAgeMs: can.maxAgeMs },
    onUncertain: can.onUncertain,
    can,
    isReady: () => link.isLive,
    *render(markdown) {
      yield* renderRichText(yield* parseRichText(markdown), format);
    },
    send: async (message, signal) => connection().send(within(can, message), signal),
    // Which connection it is does not matter: what a channel can, all its connections can.
    ...(can.find ? { find: async (message, signal) => connection().find?.(message, signal) } : {}),
    paceMs: (address) => link.connection?.paceMs?.(address) ?? 0,
    ...(drafts === undefined
      ? {}
      : {
          replacedBy: (delivery, turn) => drafts.replacedBy(delivery, turn),
          forgetDraft: (turn) => drafts.forget(turn),
        }),
  };
}

/** Without what the platform cannot show: requests are then answered by text, and an edit is a message of its own. */
function within(
  { buttons: most, edit }: Pick<Capabilities, "buttons" | "edit">,
  { buttons = [], edits, ...message }: OutgoingMessage,
): OutgoingMessage {
  return {
    ...message,
    ...(buttons.length > 0 && buttons.length <= most ? { buttons } : {}),
    ...(edit && edits !== undefined ? { edits } : {}),
  };
}

/** The way out of an account that is not open. */
export function closedOutlet(name: string): Outlet {
  return {
    name,
    limits: {},
    onUncertain: "leave",
    can: TEXT_ONLY,
    isReady: () => false,
    *render() {
      yield undefined;
    },
    send: async () => {
      throw disconnected(name);
    },
  };
}

function disconnected(name: string): Error {
  return deliveryFailed(`The channel "${name}" lost its connection`, {
    hint: "Nothing was sent. It is retried when the channel is connected again.",
  });
}
