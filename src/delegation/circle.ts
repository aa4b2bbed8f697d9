/** Prevents sessions that wait for each other forever. */
import { CortexError } from "../model/errors.ts";
import type { SessionKey } from "../model/session-key.ts";
import { type DelegationReads, MAX_PAGE } from "../store/store.ts";

/** The number of sessions that are checked. Longer chains are refused too. */
const MAX_CIRCLE = 200;

/** Refuses to wait for a session that waits, itself or through others, for the one that would wait. */
export async function checkCircle(
  target: SessionKey,
  caller: SessionKey,
  delegations: Pick<DelegationReads, "list">,
): Promise<void> {
  const seen = new Set([target]);
  for (const session of seen) {
    if (session === caller || seen.size > MAX_CIRCLE) throw circle(target);
    const { items } = await delegations.list({ caller: session, state: "open", limit: MAX_PAGE });
    for (const given of items) if (given.waits) seen.add(given.session);
  }
}

function circle(target: SessionKey): CortexError {
  return new CortexError(
    "tool_input_invalid",
    `Session ${target} is waiting for this one; waiting for it would deadlock`,
    {
      hint: "Call again without `wait`, or use another worker.",
    },
  );
}
