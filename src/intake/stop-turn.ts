import { isByAgent } from "../model/event.ts";
import { isOwner, type Principal } from "../model/principal.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { NewEvent } from "../store/store.ts";
import type { Intake } from "./intake.ts";

/** Aborts the turn that runs in a session: the owner any, others one that only their own messages have led to. */
export async function stopTurn(
  session: SessionKey,
  { principal }: NewEvent & { readonly principal: Principal },
  { store }: Pick<Intake, "store">,
): Promise<boolean> {
  const { run } = (await store.sessions.get(session)) ?? {};
  const running = run === undefined ? undefined : await store.runs.get(run);
  if (running === undefined) return false;
  if (!isOwner(principal)) {
    const items = await store.queue.itemsOf(running.turn);
    const isTheirs = ({ event }: (typeof items)[number]) =>
      event.principal === principal && !isByAgent(event);
    if (items.length === 0 || !items.every(isTheirs)) return false;
  }
  const reason = isOwner(principal) ? "the owner asked for it" : "its sender asked for it";
  const isAborted = await store.runs.requestAbort(running.id, reason);
  if (isOwner(principal)) await store.delegations.cancel(session, reason);
  return isAborted;
}
