/**
 * What people on a platform write to Cortex itself: a reply to what it asked them, or a command. Neither is for an agent,
 * and so no hook is asked about it. `chat-rights.ts` says who may use which command where.
 */
import { DIRECT_HOOK } from "../model/hook-order.ts";
import { MINUTE_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";
import { present } from "../model/present.ts";
import { isAtOwnDoor, isOwner, personIdOf } from "../model/principal.ts";
import type { Grant } from "../personas/authority.ts";
import { sessionTarget } from "../routing/resolve.ts";
import { routeOfEvent } from "../routing/route-of-event.ts";
import type { AcceptOptions, DeliveryTarget, Move, NewEvent } from "../store/store.ts";
import { buttonOf } from "./buttons.ts";
import { callerOf, helpFor, isMember, requireUse, setting } from "./chat-rights.ts";
import { answerIn, decideHere, mayAnswer } from "./decide-here.ts";
import { dispatchTo } from "./dispatch-to.ts";
import type { Intake } from "./intake.ts";
import { takePress } from "./presses.ts";
import { questionOf } from "./requests-in-places.ts";
import { parseTyped, type Typed } from "./say.ts";
import { carryOut } from "./session-commands.ts";
import { startOver } from "./start-over.ts";
import { stopTurn } from "./stop-turn.ts";
import { type ChatEvent, replyIn, type Taken } from "./taken.ts";

const NOTHING_DONE: Taken = { options: {} };

/** Undefined: it is a message like any other. */
export async function takeChatEvent(
  event: ChatEvent,
  grant: Grant,
  intake: Intake,
): Promise<Taken | undefined> {
  const { content, replyTo, contentType = "text" } = event;
  const target = placeOf(event);
  if (event.direction !== "received" || target === undefined || content === null) return undefined;
  const { authority } = grant;
  if (authority !== "paired" && (authority !== "owner" || isAtOwnDoor(event))) return undefined;
  if (contentType === "button") {
    const press = takePress(event, target, intake) ?? buttonOf(event, target, intake.buttons());
    return press && ((await mayWrite(event, intake)) ? press() : NOTHING_DONE);
  }
  if (replyTo !== undefined) {
    const question = await questionOf({ place: target, replyTo, event: event.id }, intake.store);
    if (question !== undefined && (await mayAnswer(question, event, intake))) {
      if (!(await mayWrite(event, intake))) return NOTHING_DONE;
      return { reply: await answerIn(question, content, event, intake), options: {} };
    }
  }
  const command = commandIn(content, intake);
  if (command === undefined) return undefined;
  if (!(await mayWrite(event, intake))) return NOTHING_DONE;
  const { reply, ...options } = await replyToCommand(command, { event, target, grant }, intake);
  return { reply, options: { ...options, notices: [replyIn(target, reply, event)] } };
}

function placeOf({ channel, account, place, topic }: NewEvent): DeliveryTarget | undefined {
  return place === undefined ? undefined : present({ channel, account, place, topic });
}

/** Commands count like messages. */
async function mayWrite({ principal }: ChatEvent, { store, settings }: Intake): Promise<boolean> {
  const id = personIdOf(principal);
  if (id === undefined) return true;
  const { perMinute: max = settings.config().people.limits.perMinute } =
    (await store.people.get(id))?.limits ?? {};
  return store.people.take({ principal, what: "messages", amount: 1, max, refillMs: MINUTE_MS });
}

/** Undefined: it is no command. One that cannot be read throws when it is called. */
function commandIn(content: string, intake: Intake): (() => Typed) | undefined {
  try {
    const typed = parseTyped(content, intake.chats());
    return typed === undefined ? undefined : () => typed;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** A command, who typed it, and where. */
interface TypedIn {
  readonly event: ChatEvent;
  readonly target: DeliveryTarget;
  readonly grant: Grant;
}

interface Done extends Pick<AcceptOptions, "moves" | "dispatch"> {
  readonly reply: string;
}

async function replyToCommand(command: () => Typed, typedIn: TypedIn, intake: Intake): Promise<Done> {
  try {
    const typed = command();
    const done = await carryOutIn(typed, typedIn, intake);
    return typed.message === undefined
      ? done
      : { ...done, ...(await sendBelow(typed.message, done, typedIn, intake)) };
  } catch (error) {
    if (!(error instanceof CortexError) || error.transient) throw error;
    return { reply: `${error.message}. ${error.hint}` };
  }
}

/** The lines below a command are a message, for which the command counts already. */
async function sendBelow(
  message: string,
  { moves }: { readonly moves?: Move },
  { event, grant }: TypedIn,
  intake: Intake,
): Promise<Pick<AcceptOptions, "dispatch">> {
  if (grant.authority === "guest") return {};
  const config = intake.settings.config();
  const { target: current } = await routeOfEvent(event, { ...intake, config });
  const target =
    moves === undefined ? current : await sessionTarget(moves.to, { ...intake, config }, current.persona);
  return { dispatch: await dispatchTo(target, { event, grant, hook: DIRECT_HOOK, message }, intake) };
}

async function carryOutIn(typed: Typed, { event, target }: TypedIn, intake: Intake): Promise<Done> {
  const where = setting(event);
  requireUse(typed, where, intake);
  const config = intake.settings.config();
  const route = await routeOfEvent(event, { ...intake, config });
  const { session } = route.target;
  if (typed.kind === "feature") {
    const reply = await typed.command.run({
      session,
      event: event.id,
      caller: callerOf(event),
      delivery: { ...target },
      ...(isMember(where) ? { member: event.principal } : {}),
      ...present({ audience: where.audience }),
      stopTurn: () => stopTurn(session, event, intake),
    });
    return { reply };
  }
  const { command } = typed;
  switch (command.kind) {
    case "help":
      return { reply: helpFor(where, intake) };
    case "new":
    case "fork":
      return startOver(command, { event, route, where }, intake);
    case "approve":
    case "deny":
    case "answer":
      return { reply: await decideHere(command, { event, target, session, where }, intake) };
    case "show-queue":
    case "set-queue":
    case "reset-queue":
    case "show-profile":
    case "set-profile":
    case "reset-profile":
    case "status": {
      const { channel, account } = event;
      const place = { target: route.target, channel, account };
      const answerer = { name: event.principal, isOwner: isOwner(event.principal) };
      return { reply: (await carryOut(command, place, { intake, answerer, event: event.id })).reply };
    }
  }
}
