/** Buttons of features below messages of Cortex itself. Agents' buttons say something instead: see `SAYS`. */
import type { DeliveryId, EventId } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import { createUlidSource, deriveUlid } from "../model/ulid.ts";
import type { DeliveryTarget, NewDelivery, NewEvent } from "../store/store.ts";

export interface ButtonHandler {
  /** What the data of its buttons begins with: `cancel:`. */
  readonly prefix: string;
  /**
   * Does what the button is for, and gives the reply. Doing so again for the same event changes nothing. Data can be
   * forged: it is for the handler to check that the button is there, and that whoever pressed it may.
   */
  press(pressed: PressedButton): Promise<string>;
}

export interface PressedButton {
  /** Without the prefix. */
  readonly data: string;
  readonly event: EventId;
  /** Who pressed it. */
  readonly principal: Principal;
  readonly target: DeliveryTarget;
  /** The platform's id of the message that it is below. */
  readonly message: string | undefined;
}

type PressEvent = NewEvent & { readonly principal: Principal };

/** Undefined: it is a button of something else. */
export function buttonOf(
  event: PressEvent,
  target: DeliveryTarget,
  handlers: readonly ButtonHandler[],
): (() => Promise<NewDelivery & { readonly content: string }>) | undefined {
  const { content, contentType, direction, principal, about: message } = event;
  if (contentType !== "button" || direction !== "received" || content === null) return undefined;
  const handler = handlers.find(({ prefix }) => content.startsWith(prefix));
  if (handler === undefined) return undefined;
  const data = content.slice(handler.prefix.length);
  return async () => {
    const reply = await handler.press({ data, event: event.id, principal, target, message });
    // The same for the same event, so that it is sent once.
    const id = deriveUlid(createUlidSource(() => event.atMs)(), `${event.id}/reply`) as DeliveryId;
    return { id, target, content: reply, ...(message === undefined ? {} : { replyTo: message }) };
  };
}
