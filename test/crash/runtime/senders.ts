/**
 * Those who send messages over HTTP. A sender whose connection dies sends the same again, with the same key,
 * until it is told that its message was accepted: from then on the message must not get lost.
 */
import type { Random } from "../../simulation/random.ts";
import type { Door } from "./door.ts";
import { type Reply, request } from "./request.ts";
import { HOOK_SESSIONS, PLACES, SMALL } from "./served.ts";
import { makeManagerTask } from "./manager.ts";
import { makeTask } from "./task.ts";

/** A message that was accepted. */
interface Accepted {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly event: string;
  readonly session: string;
  /** What was said about its end. */
  end?: End;
}

type End =
  | {
      readonly kind: "turn";
      readonly turn: string;
      readonly text: string;
      /** That it was aborted, and by which event. */
      readonly aborted: { readonly by: string | null } | undefined;
    }
  | { readonly kind: "dead" }
  | { readonly kind: "dropped" };

/** What was promised to the senders, and what they asked for. */
export interface Promised {
  readonly accepted: Map<string, Accepted>;
  /** The turns that somebody wanted to follow. */
  readonly followed: Set<string>;
  /** The messages that somebody wanted to take back, by the ids of their items. */
  readonly takenBack: Set<string>;
  readonly problems: string[];
}

export interface SendersParts {
  readonly door: Door;
  readonly log: string;
  readonly random: Random;
  /** How many of the messages to managers take workers, as a part of 1. */
  readonly managing: number;
  /** How many of the messages interrupt, beside those whose mode happens to, as a part of 1. */
  readonly interrupting: number;
  readonly promised: Promised;
}

/** The session of a message that has failed: the reply says that, and no more. */
export const UNTOLD = "";
/** What goes with the messages of each session. All of one have the same, else they could not share turns. */
const SESSIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  work: {},
  home: { delivery: { channel: "webhook", place: PLACES[0] } },
  "agent:main:main": { delivery: { channel: "webhook", place: PLACES[0] } },
  diary: { delivery: { channel: "webhook", place: PLACES[1] }, profile: SMALL },
};
/** All that are asked for by name. */
export const SESSION_NAMES = [...Object.keys(SESSIONS), ...Object.values(HOOK_SESSIONS)];
/** Those in which work is given to others: not the one that is compacted, for a summary would tell of their messages. */
const MANAGERS = new Set(Object.keys(SESSIONS).filter((name) => SESSIONS[name]!["profile"] !== SMALL));
/** A few messages with this fill a small window. */
const REMARK = `\nREMARK${" and so on".repeat(120)}`;
const SENDERS = 4;
/** So many messages of one sender may be under way before it waits for the end of one. */
const BURST = 3;
const MODES = ["steer", "steer-backlog", "steer", "followup", "queue", "collect", "interrupt"];

/** Sends until it is told to stop; resolves when the last message was accepted. */
export async function sendAll(parts: SendersParts, isOver: () => boolean): Promise<void> {
  await Promise.all(
    Array.from({ length: SENDERS }, async (_, sender) => {
      let last: Wish | undefined;
      for (let n = 0; !isOver(); n++) {
        // Two that interrupt right after one another: the second may meet the turn of the first as it begins.
        const wish: Wish = last?.mode === "interrupt" && parts.random.chance(0.5) ? last : chooseWish(parts);
        await sendOne(`${sender}-${n}`, wish, n % BURST === BURST - 1, parts);
        last = wish;
        if (parts.random.chance(0.1)) await takeOneBack(parts);
      }
    }),
  );
}

/** Where a message goes, and how it meets a session that is busy. */
interface Wish {
  readonly target: Readonly<Record<string, unknown>>;
  readonly mode: string;
}

function chooseWish({ random, promised, interrupting }: SendersParts): Wish {
  const mode = random.chance(interrupting) ? "interrupt" : random.pick(MODES);
  return { target: chooseTarget(random, promised), mode };
}

async function sendOne(
  name: string,
  { target, mode }: Wish,
  wait: boolean,
  parts: SendersParts,
): Promise<void> {
  const { random, managing, promised, log } = parts;
  const isManaging = MANAGERS.has(String(target["session"])) && random.chance(managing);
  const content = isManaging ? makeManagerTask(name, log, random) : makeTask(name, log, random).content;
  const body = {
    content: target["profile"] === SMALL ? content + REMARK : content,
    ...target,
    mode,
    idempotencyKey: name,
  };
  const accepted = await send(name, { ...body, wait }, parts);
  if (accepted !== undefined) promised.accepted.set(name, accepted);
}

/** Sends a message until it is accepted. Undefined: the senders are to go home. */
async function send(
  name: string,
  body: Readonly<Record<string, unknown>>,
  { door, promised }: Pick<SendersParts, "door" | "promised">,
): Promise<Accepted | undefined> {
  const reply = await ask(door, "POST", "/api/messages", body);
  if (reply === undefined) return undefined;
  const { status, json } = reply;
  const { eventId: event, session } = json;
  if (status === 202) return { name, body, event: event!, session: session! };
  if (status === 200) {
    const end = { kind: "turn", turn: json.turnId!, text: json.text!, aborted: json.aborted } as const;
    return { name, body, event: event!, session: session!, end };
  }
  const end = endOf(status, json.error?.code);
  if (end === undefined) promised.problems.push(`message ${name} was refused: ${JSON.stringify(json)}`);
  return end === undefined ? undefined : { name, body, event: `http:${name}`, session: UNTOLD, end };
}

function endOf(status: number, code: string | undefined): End | undefined {
  if (status === 502 && code === "turn_failed") return { kind: "dead" };
  if (status === 409 && code === "state_conflict") return { kind: "dropped" };
  return undefined;
}

/** A session, or a turn: where that is the head of no session, the message forks. */
function chooseTarget(random: Random, { accepted, followed }: Promised): Record<string, unknown> {
  if (random.chance(0.85)) {
    const session = random.pick(Object.keys(SESSIONS));
    return { session, ...SESSIONS[session] };
  }
  const ended = [...accepted.values()].flatMap(({ end }) => (end?.kind === "turn" ? [end.turn] : []));
  if (ended.length === 0) return {};
  const thread = random.pick(ended);
  followed.add(thread);
  return { thread };
}

async function takeOneBack({ door, promised, random }: SendersParts): Promise<void> {
  const waiting = await ask(door, "GET", "/api/queue");
  const items = waiting?.json.items ?? [];
  if (items.length === 0) return;
  const { id } = random.pick(items);
  promised.takenBack.add(id); // the reply may get lost
  await ask(door, "DELETE", `/api/queue/${id}`);
}

/** Asks again for every message, with its key, and waits for its end: the same message has one end. */
export async function askForEnds({ door, promised }: SendersParts): Promise<void> {
  for (const message of promised.accepted.values()) {
    const { name, body, event, session, end } = message;
    const again = await send(name, { ...body, wait: true }, { door, promised });
    if (again?.end === undefined) {
      promised.problems.push(`message ${name} has no end`);
      continue;
    }
    if (end !== undefined && JSON.stringify(end) !== JSON.stringify(again.end)) {
      promised.problems.push(
        `message ${name} has two ends: ${JSON.stringify(end)} and ${JSON.stringify(again.end)}`,
      );
    }
    if (again.event !== event) promised.problems.push(`message ${name} has become two events`);
    if (again.session !== session && again.session !== UNTOLD && session !== UNTOLD)
      promised.problems.push(`message ${name} has gone to two sessions: ${session} and ${again.session}`);
    message.end = again.end;
  }
}

function ask(
  door: Door,
  method: string,
  path: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<Reply | undefined> {
  return request(door, path, ({ token }) => ({
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }));
}
