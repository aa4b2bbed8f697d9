import { dispatchIds } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import type { Grant } from "../personas/authority.ts";
import type { SessionTarget } from "../routing/resolve.ts";
import type { NewDispatch, NewEvent } from "../store/store.ts";
import type { Intake } from "./intake.ts";
import { queueing } from "./messages.ts";
import { quotaFor } from "./person-quota.ts";

interface Said {
  readonly event: NewEvent & { readonly principal: Principal };
  readonly grant: Exclude<Grant, { authority: "guest" }>;
  /** What stands for a hook, which is not asked. */
  readonly hook: string;
  readonly message: string;
}

/** What a person says on a channel, as a message to a session: with the rights of the person, and within their limits. */
export async function dispatchTo(
  target: SessionTarget,
  { event, grant, hook, message }: Said,
  { store, settings, clock, mintId }: Intake,
): Promise<NewDispatch> {
  const config = settings.config();
  return {
    ...dispatchIds(mintId),
    hook,
    target,
    ...(await queueing({ mode: undefined, source: event, sender: "person" }, target, {
      store,
      config,
      clock,
    })),
    ...quotaFor(event, { config, nowMs: clock(), mintId }),
    message,
    ...(grant.authority === "owner" ? {} : { permissions: grant.permissions }),
  };
}
