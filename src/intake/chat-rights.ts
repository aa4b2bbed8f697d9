/**
 * Who may use which command in a chat of a platform. An identity that the owner has claimed counts as the owner; but where
 * others read along, only what is the room's own is shown. Members get by a command what they have anyway: the state of
 * their session, answers to what their own work asks, and an end of what they have started.
 */
import { audienceOf, isOutside } from "../model/audience.ts";
import { CortexError } from "../model/errors.ts";
import { isOwner, isRoom, type Principal } from "../model/principal.ts";
import { present } from "../model/present.ts";
import { type Caller, OWNER_CALLER } from "../model/scopes.ts";
import type { NewEvent } from "../store/store.ts";
import { type SessionCommand, USAGE } from "../queue/command.ts";
import type { Intake } from "./intake.ts";
import type { Typed } from "./say.ts";

export interface Setting {
  readonly isOwner: boolean;
  /** Whether others read along. */
  readonly isRoom: boolean;
  /** Who reads a reply, if others than the owner do. */
  readonly audience: string | undefined;
}

export function setting(event: NewEvent & { readonly principal: Principal }): Setting {
  const audience = audienceOf(event);
  return {
    isOwner: isOwner(event.principal),
    isRoom: isRoom(audience),
    audience: isOutside(audience) ? audience : undefined,
  };
}

/**
 * Whether an event counts as a decision of the owner: on a connection of our own, where the platform vouches for the sender.
 * Programs that bring events in with a scoped token name any sender they like.
 */
export function mayDecide({
  principal,
  token,
}: Pick<NewEvent, "token"> & { readonly principal: Principal }): boolean {
  return isOwner(principal) && token === undefined;
}

/** With what a command acts: a program with a token never gets more than a message of its person. */
export function callerOf({
  principal,
  token,
}: Pick<NewEvent, "token"> & { readonly principal: Principal }): Caller {
  return token === undefined && isOwner(principal)
    ? OWNER_CALLER
    : { principal, can: ["send"], ...present({ token }) };
}

export function isMember(where: Setting): boolean {
  return !where.isOwner;
}

type Word = keyof typeof USAGE;

/** The least that somebody has to be. private: the owner, or a member alone with the agent. */
const WHO: Readonly<Record<Word, "owner" | "private" | "all">> = {
  queue: "owner",
  profile: "owner",
  approve: "owner",
  deny: "owner",
  answer: "all",
  new: "private",
  fork: "private",
  status: "all",
  help: "all",
};

const WORD_OF: Readonly<Record<SessionCommand["kind"], Word>> = {
  "show-queue": "queue",
  "set-queue": "queue",
  "reset-queue": "queue",
  "show-profile": "profile",
  "set-profile": "profile",
  "reset-profile": "profile",
  approve: "approve",
  deny: "deny",
  answer: "answer",
  new: "new",
  fork: "fork",
  status: "status",
  help: "help",
};

function maySay(word: Word, { isOwner: byOwner, isRoom: isShared }: Setting): boolean {
  return byOwner || WHO[word] === "all" || (WHO[word] === "private" && !isShared);
}

/** Throws `approval_forbidden`. */
export function requireUse(typed: Typed, where: Setting, intake: Pick<Intake, "chats">): void {
  const { isOwner: byOwner, isRoom: isShared } = where;
  if (typed.kind === "session") {
    if (maySay(WORD_OF[typed.command.kind], where)) return;
  } else {
    const { access } = typed.command;
    if (byOwner ? !isShared || access !== "owner" : access === "member") return;
  }
  const hint = helpFor(where, intake);
  throw byOwner
    ? new CortexError("approval_forbidden", "Others would read the reply here", {
        hint: `Use this command in a direct message. Here, you can use:\n${hint}`,
      })
    : new CortexError("approval_forbidden", "Only the owner may use this command", {
        hint: `You can use:\n${hint}`,
      });
}

/** One line for each command that may be used. */
export function helpFor(where: Setting, { chats }: Pick<Intake, "chats">): string {
  const { isOwner: byOwner, isRoom: isShared } = where;
  const isFull = byOwner && !isShared;
  const words = (Object.keys(USAGE) as Word[]).filter((word) => maySay(word, where));
  return [
    ...words.map((word) => (word === "fork" && !isFull ? "/fork [<number>]" : USAGE[word])),
    ...chats().flatMap(({ usage, usageFor }) =>
      isFull ? usage : (usageFor?.[byOwner ? "room" : "member"] ?? []),
    ),
  ].join("\n");
}
