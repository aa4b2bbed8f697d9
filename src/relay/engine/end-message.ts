/** The message by which the session that started a relay is told of its end. */
import { eventId, RELAY_ADAPTER } from "../../model/event.ts";
import type { DispatchId, ItemId } from "../../model/ids.ts";
import type { RelayChange } from "../../store/store.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import { RELAY_HOOK } from "./order-step.ts";

/** Undefined: nobody wants to be told. A relay that is resumed can end again, and is then another version. */
export async function endMessage(
  { id, version, detail, rows }: Pick<KeptRelay, "id" | "version" | "detail" | "rows">,
  content: string,
  { store, clock, mintId }: Pick<EngineParts, "store" | "clock" | "mintId">,
): Promise<RelayChange["tell"]> {
  if (detail.tells !== true || detail.session === undefined) return undefined;
  const session = await store.sessions.get(detail.session);
  if (session === undefined) return undefined;
  const from = rows.findLast((row) => row.session !== undefined)?.session;
  const { key, agent, persona } = session;
  return {
    event: {
      id: eventId(RELAY_ADAPTER, { kind: "id", sourceId: `${id}:end:${version}` }),
      channel: RELAY_ADAPTER,
      direction: "sent",
      sender: id,
      content,
      metadata: { relay: id },
      ...(detail.cause === undefined ? {} : { cause: detail.cause, returns: true }),
      atMs: clock(),
    },
    dispatch: {
      id: mintId() as DispatchId,
      item: mintId() as ItemId,
      hook: RELAY_HOOK,
      target: { kind: "session", session: key, agent, persona },
      mode: "followup",
      ...(detail.permissions === undefined ? {} : { permissions: detail.permissions }),
      ...(detail.delivery === undefined ? {} : { delivery: detail.delivery }),
      ...(from === undefined ? {} : { from }), // what the last step came into contact with, it is told of
    },
  };
}
