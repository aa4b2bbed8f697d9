/** What those who work on a task have come into contact with: their words are about to be in the team's files. */
import type { SessionKey } from "../../model/session-key.ts";
import { joinLabels, type Label, NO_LABEL, readTrust } from "../../model/trust.ts";
import type { CurrentTask } from "./member-state.ts";
import { memberSession } from "./order-turn.ts";
import type { Workplace } from "./workplace.ts";

export async function labelOfWork(
  { relay }: CurrentTask,
  slug: string,
  { store, apis }: Pick<Workplace, "store" | "apis">,
): Promise<Label> {
  const steps = relay === undefined ? [] : ((await apis.relays.get(relay))?.steps ?? []);
  const sessions = steps.flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId as SessionKey]));
  const labels = [memberSession(slug), ...new Set(sessions)].map(async (session): Promise<Label> => {
    const { outward: _, ...label } = readTrust((await store.sessions.get(session))?.settings ?? {});
    return label;
  });
  return joinLabels(NO_LABEL, ...(await Promise.all(labels)));
}
