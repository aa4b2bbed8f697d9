/**
 * `/new` and `/fork` in a chat of a platform: the talk of the place goes on in another session. Which one is derived from the
 * command, and moving there is part of the commit that stores it, so the command moves the talk once.
 */
import { CortexError } from "../model/errors.ts";
import type { EventId, TurnId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import type { SessionCommand } from "../queue/command.ts";
import { type EventRoute, talkSession } from "../routing/route-of-event.ts";
import type { Move, Store } from "../store/store.ts";
import type { Setting } from "./chat-rights.ts";
import type { Intake } from "./intake.ts";
import { turnNamed } from "./session-commands.ts";

interface Talk {
  readonly event: { readonly id: EventId };
  readonly route: EventRoute;
  readonly where: Setting;
}

interface StartedOver {
  readonly reply: string;
  readonly moves?: Move;
}

export async function startOver(
  command: Extract<SessionCommand, { kind: "new" | "fork" }>,
  { event, route: { target, from }, where }: Talk,
  { store }: Pick<Intake, "store">,
): Promise<StartedOver> {
  const { session } = target;
  const stored = await store.sessions.get(session);
  if (command.kind === "new") {
    if (
      stored === undefined ||
      (stored.head === undefined && stored.queued === 0 && stored.run === undefined)
    )
      return { reply: `${session} is already empty.` };
    const to = talkSession(session, event.id);
    const running = stored.run === undefined ? "" : " Its running turn goes on, and is answered here.";
    return {
      moves: { from, to },
      reply: `This chat continues in ${to}, which is empty. ${session} is kept.${running}`,
    };
  }
  const isFull = where.isOwner && !where.isRoom;
  const { turn: named, label } = command;
  if (label !== undefined && !isFull) throw labelForbidden();
  const turn = await turnNamed(named, stored?.head, store);
  if (!isFull) await requireOwn(turn, stored?.head, store);
  const to = label === undefined ? talkSession(session, event.id) : normalizeSessionKey(label);
  await store.sessions.fork(turn, to);
  return {
    moves: { from, to },
    reply: `This chat continues in ${to}, from turn ${turn}. ${session} is unchanged.`,
  };
}

/** Others may go back in their own talk, and see no turn of anybody else's. */
async function requireOwn(
  turn: TurnId,
  head: TurnId | undefined,
  { turns }: Pick<Store, "turns">,
): Promise<void> {
  const thread = head === undefined ? [] : await turns.thread(head, { limit: MAX_TURNS_BACK });
  if (thread.some(({ id }) => id === turn)) return;
  throw new CortexError("turn_unknown", `This conversation has no turn ${turn}`, {
    hint: "Count back from the last answer, which is 1: `/fork 2`.",
  });
}

const MAX_TURNS_BACK = 100;

function labelForbidden(): CortexError {
  return new CortexError(
    "approval_forbidden",
    "Only the owner can name the new session, in a direct message",
    {
      hint: "Use `/fork` or `/fork <number>`.",
    },
  );
}
