/**
 * A message that its sender has edited: where it still waits, the new text takes its place. Where it is in a turn already,
 * the agent is told, as by a message of its own. Others' edits, and those of what nobody answers, are only recorded.
 */
import type { Config } from "../config/config.ts";
import { EDIT_HOOK } from "../model/hook-order.ts";
import { dispatchIds } from "../model/ids.ts";
import { present } from "../model/present.ts";
import type { Principal } from "../model/principal.ts";
import { truncate } from "../model/truncate.ts";
import type { Grant } from "../personas/authority.ts";
import { resolveRoute } from "../routing/resolve.ts";
import type { AcceptOptions, NewEvent } from "../store/store.ts";
import type { Intake } from "./intake.ts";
import { queueing } from "./messages.ts";
import { quotaFor } from "./person-quota.ts";

const MAX_QUOTE_LENGTH = 200;

export async function reviseOptions(
  event: NewEvent & { readonly principal: Principal },
  grant: Grant,
  { store, settings, clock, mintId }: Intake,
): Promise<Pick<AcceptOptions, "revises" | "dispatch">> {
  const { channel, account, place, topic, about, content, principal } = event;
  if (event.direction !== "updated" || about === undefined || place === undefined || content === null)
    return {};
  const original = await store.events.findMessage(present({ channel, account, place, topic }), about);
  if (original === undefined || original.principal !== principal || original.content === content) return {};
  const [dispatched] = await store.events.dispatches(original.id);
  if (dispatched === undefined || grant.authority === "guest") return {};
  const config: Config = settings.config();
  const target = await resolveRoute({ session: dispatched.session }, { store, config, mintId });
  return {
    revises: { event: original.id, message: content },
    dispatch: {
      ...dispatchIds(mintId),
      hook: EDIT_HOOK,
      target,
      ...(await queueing({ mode: undefined, channel, sender: "person" }, target, { store, config, clock })),
      ...quotaFor({ ...original, principal }, { config, nowMs: clock(), mintId }),
      message: `[Edited. It was: ${truncate(original.content ?? "", MAX_QUOTE_LENGTH)}]\n\n${content}`,
      ...(grant.authority === "owner" ? {} : { permissions: grant.permissions }),
    },
  };
}
