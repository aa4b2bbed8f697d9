/**
 * A message that tells the coordinator about a flagged task, so that it can suggest what to do. Each flag makes one message,
 * sent once; messages that arrive together are answered in one turn.
 */
import { hash } from "node:crypto";

import { TEAM_ADAPTER, splitEventId } from "../../model/event.ts";
import { eventId } from "../../model/event-id.ts";
import type { DispatchId, EventId, ItemId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { isWithin, type Label, OWNERS } from "../../model/trust.ts";
import type { NewDispatch, NewEvent, TeamGift } from "../../store/store.ts";
import type { Blocked } from "../reports/facts.ts";
import { memberSession, TEAM_HOOK } from "./order-turn.ts";
import { flagPrompt } from "./prompts.ts";
import { COORDINATOR } from "../files/team.ts";
import type { Workplace } from "./workplace.ts";

/** Tells notices from orders, whose ids are those of the work and contain no colon. */
const PREFIX = "flag:";

/** The same flag always gets the same id, so it is reported once. */
function noticeId(team: string, flag: string): EventId {
  const digest = hash("sha256", `${team}\n${flag}`).slice(0, 24);
  return eventId(TEAM_ADAPTER, { kind: "id", sourceId: PREFIX + digest });
}

/** Whether an event reports a flag. Such an event is neither a task nor a person's instruction. */
export function isNotice({ id }: { readonly id: string }): boolean {
  const { adapter, sourceId } = splitEventId(id);
  return adapter === TEAM_ADAPTER && sourceId.startsWith(PREFIX);
}

export interface Notice {
  readonly event: NewEvent;
  readonly dispatch: NewDispatch;
  /** The session of the member that flagged the task. Foreign members have none. */
  readonly from: SessionKey;
}

interface FlagNotice {
  /** Of the concern. */
  readonly key: string;
  readonly flag: Blocked;
  /** The event that led to the flag. Undefined: the flag was written by others. */
  readonly cause: EventId | undefined;
  /** Of the file that holds it. */
  readonly label: Label;
}

export function orderNotice(
  { key, flag, cause, label }: FlagNotice,
  { session, agent, persona }: Pick<TeamGift, "session" | "agent" | "persona">,
  { team: { root: team }, clock, mintId }: Pick<Workplace, "team" | "clock" | "mintId">,
): Notice {
  return {
    event: {
      id: noticeId(team, key),
      channel: TEAM_ADAPTER,
      direction: "sent",
      sender: COORDINATOR,
      content: flagPrompt(flag),
      metadata: { team, member: flag.member.slug, flagged: flag.title ?? null },
      ...(cause === undefined ? {} : { cause }),
      ...(isWithin(label, OWNERS) ? {} : { label }),
      atMs: clock(),
    },
    dispatch: {
      id: mintId() as DispatchId,
      item: mintId() as ItemId,
      hook: TEAM_HOOK,
      target: { kind: "session", session, agent, persona },
      mode: "collect",
    },
    from: memberSession(flag.member.slug),
  };
}
