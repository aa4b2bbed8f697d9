import type { Config } from "../config/config.ts";
import { deliveriesOf } from "../delivery/address.ts";
import { dayStart } from "../model/day.ts";
import { personIdOf, type Principal } from "../model/principal.ts";
import type { NewDispatch, NewEvent } from "../store/store.ts";

/** What the sender of an event may use. Nothing is said of the owner, and of programs. */
export function quotaFor(
  event: NewEvent & { readonly principal: Principal },
  {
    config,
    nowMs,
    mintId,
  }: { readonly config: Config; readonly nowMs: number; readonly mintId: () => string },
): Pick<NewDispatch, "quota"> {
  if (personIdOf(event.principal) === undefined) return {};
  const [notice] = deliveriesOf({ text: "?", source: event, mintId });
  const dayMs = dayStart(nowMs, config.timezone);
  return { quota: { ...config.people.limits, dayMs, ...(notice === undefined ? {} : { notice }) } };
}
