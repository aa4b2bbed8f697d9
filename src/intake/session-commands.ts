/** What each command does, and what it replies. */
import { createHash } from "node:crypto";

import { conversationOn } from "../config/channel-accounts.ts";
import { CortexError } from "../model/errors.ts";
import type { EventId, TurnId } from "../model/ids.ts";
import { reveal } from "../model/reveal.ts";
import { normalizeSessionKey, type SessionKey } from "../model/session-key.ts";
import { isUlid } from "../model/ulid.ts";
import { ACTIVE_PROFILE } from "../model/profile.ts";
import type { QueueSettings } from "../model/queue-settings.ts";
import { type SessionCommand, USAGE } from "../queue/command.ts";
import { forkLabel } from "../routing/resolve.ts";
import { NO_SETTINGS, type QueueSource, type ResolvedQueue, resolveQueue } from "../queue/settings.ts";
import type { DispatchTarget, Settings, Store, StoredSession } from "../store/store.ts";
import { type Answerer, decide, onlyOpen } from "./approvals.ts";
import type { ChatCommands } from "./chat-commands.ts";
import type { Intake } from "./intake.ts";

/** Who typed a command, and where. */
interface Typing {
  readonly intake: Intake;
  readonly answerer: Answerer;
  /** The command: the same one again makes nothing again. */
  readonly event: EventId;
}

export interface Place {
  readonly target: Extract<DispatchTarget, { kind: "session" }>;
  /** Through which the command came. */
  readonly channel: string;
  readonly account?: string | undefined;
}

export interface Replied {
  readonly reply: string;
  /** Where the talk goes on. */
  readonly session: SessionKey;
}

/** Carries a command out for a session, which is made where it is needed, and gives the reply. */
export async function carryOut(command: SessionCommand, place: Place, typing: Typing): Promise<Replied> {
  if (command.kind === "fork") return forkAt(command, place, typing);
  return { reply: await replyTo(command, place, typing), session: place.target.session };
}

async function replyTo(
  command: Exclude<SessionCommand, { kind: "fork" }>,
  place: Place,
  typing: Typing,
): Promise<string> {
  const { intake } = typing;
  const { session } = place.target;
  const configure = (settings: Settings): Promise<void> =>
    intake.store.sessions.configure(session, settings, { create: place.target });
  switch (command.kind) {
    case "show-queue":
      return describeQueue(place, intake);
    case "set-queue":
      await configure({ ...command.settings });
      return describeQueue(place, intake);
    case "reset-queue":
      await configure(NO_SETTINGS);
      return describeQueue(place, intake);
    case "show-profile":
      return describeProfile(place, intake);
    case "set-profile":
      intake.settings.profile(command.profile); // throws for one that does not exist
      await configure({ profile: command.profile });
      return describeProfile(place, intake);
    case "reset-profile":
      await configure({ profile: null });
      return describeProfile(place, intake);
    case "approve":
    case "deny":
    case "answer":
      return decideIn(command, place, typing);
    case "new":
      return startAfresh(place, intake);
    case "status":
      return describeStatus(place, intake);
    case "help":
      return help(intake.chats());
  }
}

export type Deciding = Extract<SessionCommand, { kind: "approve" | "deny" | "answer" }>;

async function decideIn(
  command: Deciding,
  { target: { session } }: Place,
  { intake, answerer }: Typing,
): Promise<string> {
  const kind = command.kind === "answer" ? "question" : "approval";
  const id = command.id ?? (await onlyOpen(session, kind, intake.store));
  return decideTyped({ ...command, id }, answerer, intake);
}

export async function decideTyped(
  command: Deciding & { readonly id: string; readonly event?: EventId },
  answerer: Answerer,
  { store }: Pick<Intake, "store">,
): Promise<string> {
  const { id } = command;
  const { request } = await decide(id, command, answerer, store);
  const { tool, question } = request as { readonly tool?: string; readonly question?: string };
  const done = { approve: "Approved", deny: "Denied", answer: "Answered" }[command.kind];
  return `${done}: ${reveal((tool ?? question ?? id).slice(0, 200))}`;
}

/** What waits in the old session stays there; what is written below the command is the first message of the new one. */
async function forkAt(
  { turn: named, label }: Extract<SessionCommand, { kind: "fork" }>,
  { target }: Place,
  { intake: { store }, event }: Typing,
): Promise<Replied> {
  const head = (await store.sessions.get(target.session))?.head;
  const turn = await turnNamed(named, head, store);
  const session = label === undefined ? forkLabel(digestOf(event)) : normalizeSessionKey(label);
  await store.sessions.fork(turn, session);
  return { session, reply: `${session} continues from turn ${turn}. ${target.session} is unchanged.` };
}

/** A number counts back from the last turn of the session, as the list of turns has them. */
export async function turnNamed(named = "1", head: TurnId | undefined, store: Store): Promise<TurnId> {
  if (!/^\d{1,3}$/.test(named)) return (isUlid(named.toUpperCase()) ? named.toUpperCase() : named) as TurnId;
  const place = Number(named);
  const turns = head === undefined || place === 0 ? [] : await store.turns.thread(head, { limit: place });
  const turn = turns[place - 1];
  if (turn !== undefined) return turn.id;
  throw new CortexError("turn_unknown", `This session has no turn ${named}`, {
    hint: "1 is the last turn. `cortex log <session>` lists turns with their ids.",
  });
}

/** The same for the same command, so that it makes one session however often it is taken up. */
function digestOf(event: EventId): string {
  return createHash("sha256").update(event).digest("hex").slice(0, FORK_ID_LENGTH);
}

const FORK_ID_LENGTH = 26;

const help = (chats: readonly ChatCommands[]): string =>
  [
    ...Object.values(USAGE),
    ...chats.flatMap(({ usage }) => usage),
    "Put a command on the first line. The lines after it are sent as a message.",
  ].join("\n");

async function describeQueue(
  { target, channel, account }: Place,
  { store, settings: configured }: Intake,
): Promise<string> {
  const stored = await store.sessions.get(target.session);
  const { settings, sources }: ResolvedQueue = resolveQueue({
    mode: undefined,
    session: stored?.settings,
    channel,
    accountMode: conversationOn(configured.config(), { channel, account })?.queueMode,
    agent: target.agent,
    sender: "person",
    config: configured.config(),
  });
  const line = (label: string, name: keyof QueueSettings, value: string | number): string =>
    `${label}: ${value} (${ORIGIN[sources[name]](channel, target.agent)})`;
  return [
    `Queue of ${target.session}, ${stored?.queued ?? 0} waiting`,
    line("mode", "mode", settings.mode),
    line("debounce", "debounceMs", `${settings.debounceMs}ms`),
    line("cap", "cap", settings.cap),
    line("drop", "drop", settings.drop),
    line("interrupt", "onInterrupt", settings.onInterrupt),
  ].join("\n");
}

const ORIGIN: Readonly<Record<QueueSource, (channel: string, agent: string) => string>> = {
  message: () => "this message",
  session: () => "this session",
  account: (channel) => `channels.${channel}`,
  channel: (channel) => `broker.queue.byChannel.${channel}`,
  agent: (_, agent) => `agents.${agent}.queueMode`,
  config: () => "broker.queue",
};

async function describeProfile({ target }: Place, { store, settings }: Intake): Promise<string> {
  const own = (await store.sessions.get(target.session))?.settings["profile"];
  if (typeof own === "string") return `Profile of ${target.session}: ${named(own)} (this session).`;
  const profile = settings.config().agents[target.agent]?.profile ?? ACTIVE_PROFILE;
  return `Profile of ${target.session}: ${named(profile)} (agents.${target.agent}.profile).`;
}

function named(profile: string): string {
  return profile === ACTIVE_PROFILE ? "the active one" : profile;
}

async function startAfresh({ target: { session } }: Place, { store }: Intake): Promise<string> {
  const before = await store.sessions.get(session);
  if (before?.head === undefined) return `${session} is already empty.`;
  await store.sessions.reset(session);
  return [
    `${session} was reset. Its earlier turns are kept; the last one is ${before.head}.`,
    ...(before.run === undefined ? [] : ["The running turn continues and starts the new thread."]),
  ].join("\n");
}

async function describeStatus(place: Place, intake: Intake): Promise<string> {
  const session = await intake.store.sessions.get(place.target.session);
  const profile = await describeProfile(place, intake);
  return `${describeSession(place.target.session, session)}\n${profile}`;
}

function describeSession(key: string, session: StoredSession | undefined): string {
  if (session === undefined) return `${key} has no messages yet.`;
  const { state, wait, queued, head } = session;
  const what = wait === undefined ? state : `${state}, for: ${wait}`;
  return `${key} is ${what}; ${queued} waiting; ${head === undefined ? "no turns yet" : `last turn ${head}`}.`;
}
