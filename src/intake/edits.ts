/**
 * A message that its sender has edited: where it still waits, the new text takes its place. Where it is in a turn already,
 * the agent is told, as by a message of its own. Others' edits, and those of what nobody answers, are only recorded.
 */
import { EDIT_HOOK } from "../model/hook-order.ts";
import { present } from "../model/present.ts";
import type { Principal } from "../model/principal.ts";
import { truncate } from "../model/truncate.ts";
import type { Grant } from "../personas/authority.ts";
import { sessionTarget } from "../routing/resolve.ts";
import type { AcceptOptions, NewEvent } from "../store/store.ts";
import { dispatchTo } from "./dispatch-to.ts";
import type { Intake } from "./intake.ts";

const MAX_QUOTE_LENGTH = 200;

export async function reviseOptions(
  event: NewEvent & { readonly principal: Principal },
  grant: Grant,
  intake: Intake,
): Promise<Pick<AcceptOptions, "revises" | "dispatch">> {
  const { store } = intake;
  const { channel, account, place, topic, about, content, principal } = event;
  if (event.direction !== "updated" || about === undefined || place === undefined || content === null)
    return {};
  const original = await store.events.findMessage(present({ channel, account, place, topic }), about);
  if (original === undefined || original.principal !== principal || original.content === content) return {};
  const [dispatched] = await store.events.dispatches(original.id);
  if (dispatched === undefined || grant.authority === "guest") return {};
  const target = await sessionTarget(dispatched.session, { store, config: intake.settings.config() });
  const message = `[Edited. It was: ${truncate(original.content ?? "", MAX_QUOTE_LENGTH)}]\n\n${content}`;
  return {
    revises: { event: original.id, message: content },
    dispatch: await dispatchTo(target, { event, grant, hook: EDIT_HOOK, message }, intake),
  };
}
