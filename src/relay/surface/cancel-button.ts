/** The button below the progress of a relay. */
import type { PressedButton } from "../../intake/buttons.ts";
import { DEFAULT_ACCOUNT, isRelayId } from "../../model/ids.ts";
import { isOwner } from "../../model/principal.ts";
import type { DeliveryTarget, Store } from "../../store/store.ts";
import { principalOfRelay } from "../engine/relay-label.ts";
import { relayDetail } from "../record/kept-relay.ts";
import type { Relays } from "../relays.ts";
import { progressId } from "./chat-progress.ts";

interface CancelPorts {
  readonly relays: Pick<Relays, "cancel">;
  readonly store: Pick<Store, "relays" | "outbox" | "events">;
}

/** Only the owner, and whoever the relay works for, may cancel it, and only below its own progress. */
export async function pressCancel(
  { data: id, principal, target, message }: PressedButton,
  { relays, store }: CancelPorts,
): Promise<string> {
  const relay = isRelayId(id) ? await store.relays.get(id) : undefined;
  const shown = relay === undefined ? undefined : await store.outbox.get(progressId(relay));
  const isThere =
    shown !== undefined &&
    isSamePlace(shown.target, target) &&
    shown.chunks.some(({ platformId }) => platformId !== undefined && platformId === message);
  if (relay === undefined || !isThere) return "This button belongs to no thread that was started here.";
  if (!isOwner(principal) && principal !== (await principalOfRelay(relayDetail(relay), store)))
    return "Only the owner, or whoever started the thread, may cancel it.";
  if (await relays.cancel(relay.id)) return `Cancelled \`${relay.id}\`.`;
  return `\`${relay.id}\` has already ended.`;
}

function isSamePlace(one: DeliveryTarget, other: DeliveryTarget): boolean {
  return (
    one.channel === other.channel &&
    one.place === other.place &&
    (one.account ?? DEFAULT_ACCOUNT) === (other.account ?? DEFAULT_ACCOUNT)
  );
}
