/** Buttons of features below messages of Cortex itself. Agents' buttons say something instead: see `SAYS`. */
import type { EventId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import type { Principal } from "../model/principal.ts";
import type { DeliveryTarget } from "../store/store.ts";
import { type ChatEvent, replyIn, type Taken } from "./taken.ts";

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

/** Undefined: it is a button of something else. */
export function buttonOf(
  event: ChatEvent,
  target: DeliveryTarget,
  handlers: readonly ButtonHandler[],
): (() => Promise<Taken>) | undefined {
  const { content, principal, about: message } = event;
  const handler = handlers.find(({ prefix }) => content?.startsWith(prefix) === true);
  if (content === null || handler === undefined) return undefined;
  const data = content.slice(handler.prefix.length);
  return async () => {
    const reply = await handler.press({ data, event: event.id, principal, target, message });
    const notice = { ...replyIn(target, reply, event), ...present({ replyTo: message }) };
    return { reply, options: { notices: [notice] } };
  };
}
