/** Where the progress of a relay is shown as one message that is edited. */
import type { OutletCan } from "../../channels/outlet.ts";
import { parseDelivery } from "../../delivery/address.ts";
import { present } from "../../model/present.ts";
import type { DeliveryTarget } from "../../store/store.ts";
import type { RelayDetail } from "./kept-relay.ts";

/** Of the data of the button below it, before the id of the relay. */
export const CANCEL = "cancel:";

/** Undefined: in no chat, or in one whose messages cannot be edited. People there get a notice for each step. */
export function progressPlace(
  { delivery }: Pick<RelayDetail, "delivery">,
  can: (channel: string, account?: string) => OutletCan | undefined,
): DeliveryTarget | undefined {
  const { channel, account, place, topic } = parseDelivery(delivery);
  if (channel === undefined || place === undefined) return undefined;
  return can(channel, account)?.edit === true
    ? { channel, place, ...present({ account, topic }) }
    : undefined;
}
