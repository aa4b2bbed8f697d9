import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import type { DeliveryTarget } from "../store.ts";

/** The id of a place in the ledger: its parts, encoded, because those of some platforms hold colons. */
export function placeId({ channel, account = DEFAULT_ACCOUNT, place, topic }: DeliveryTarget): string {
  const parts = topic === undefined ? [channel, account, place] : [channel, account, place, topic];
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join(":");
}
