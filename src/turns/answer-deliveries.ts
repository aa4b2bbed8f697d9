/** The deliveries of what a turn says to whoever wrote, or to where a hook sends it. */
import type { OutgoingFile } from "../model/extras.ts";
import type { Json } from "../model/json.ts";
import type { NewDelivery, QueueItem } from "../store/store.ts";
import type { TurnPorts } from "./turn-ports.ts";

interface Told {
  /** Another address. */
  readonly to?: Json | undefined;
  readonly files?: readonly OutgoingFile[];
}

export function deliveriesFor(
  { event, dispatches }: QueueItem,
  text: string,
  { deliveriesOf, mintId }: Pick<TurnPorts, "deliveriesOf" | "mintId">,
  { to, files }: Told = {},
): NewDelivery[] {
  const delivery = to ?? dispatches.find((dispatch) => dispatch.delivery !== undefined)?.delivery;
  return deliveriesOf({ text, source: event, delivery, mintId, ...(files === undefined ? {} : { files }) });
}

export function noticesTo(
  item: QueueItem,
  text: string,
  ports: Pick<TurnPorts, "deliveriesOf" | "mintId">,
  to?: Json,
): (NewDelivery & { readonly content: string })[] {
  return deliveriesFor(item, text, ports, { to }).map((delivery) =>
    Object.assign({ content: text }, delivery),
  );
}
