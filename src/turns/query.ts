/**
 * What the model reads of a message: its text, an envelope with time, place and sender, its attachments, and what a hook
 * found in the event. Also what the ledger holds about it that its sender may know, and for the owner's own messages how
 * the team stands.
 */
import { isOutside } from "../model/audience.ts";
import { HOUR_MS } from "../model/durations.ts";
import { isOwnAdapter } from "../model/event.ts";
import type { MessageId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Message, UserBody } from "../model/message.ts";
import { OWNER_PRINCIPAL } from "../model/principal.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Context, QueueItem, SearchHit, SearchOptions, StoredEvent } from "../store/store.ts";
import { audienceOfTurn } from "./audience.ts";
import { remember } from "./memory.ts";
import { isByOthers, labelSession } from "./setup.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** The turn that a query is for. */
interface QueryTurn {
  readonly session: SessionKey;
  readonly turn: TurnId;
  readonly items: readonly QueueItem[];
  readonly thread: Context;
  /** Of the model, in tokens. Undefined: unknown. */
  readonly window: number | undefined;
  /** Whether its agent gets what the ledger holds about the messages. */
  readonly remembers: boolean;
  /** Of the session: where it was begun. */
  readonly channel: string | undefined;
  /** Whether its agent coordinates a team, and is told how that stands. */
  readonly coordinates: boolean;
}

/** The messages that a turn answers, as its model reads them. */
export async function makeQuery(
  { session, turn, items, thread, window, remembers, channel, coordinates }: QueryTurn,
  ports: Pick<TurnPorts, "store" | "settings" | "clock" | "features">,
): Promise<readonly Message[]> {
  const { store, settings } = ports;
  const { timezone, memory } = settings.config();
  const said = items.map((item) => toQuery(item, timezone));
  const only = recallable(items, channel);
  const isOwners = !isByOthers(items) && only?.audience === undefined;
  const query = coordinates && isOwners ? await tellSituation(said, { session, turn, thread }, ports) : said;
  if (only === undefined || !remembers || memory.tokens === 0) return query;
  const search = (text: string, options: SearchOptions): Promise<readonly SearchHit[]> =>
    store.events.search(text, options);
  const remembered = await remember(query, { search, items, thread, window, only, ...memory });
  const source = { label: remembered.label, origin: { turn, part: "memory" } as const };
  await labelSession(session, [source], store);
  return remembered.query;
}

/**
 * What a turn recalls: for people and rooms what they have heard, for the owner what the owner wrote. Undefined: nothing,
 * for programs and agents, and where the owner writes from elsewhere into the session of another person.
 */
function recallable(
  items: readonly QueueItem[],
  channel: string | undefined,
): Pick<SearchOptions, "audience" | "writtenBy"> | undefined {
  const audience = audienceOfTurn(items);
  if (isOutside(audience)) return { audience };
  if (isByOthers(items)) return undefined;
  const isOfOthers =
    channel !== undefined && !isOwnAdapter(channel) && items.some(({ event }) => event.channel !== channel);
  return isOfOthers ? undefined : { writtenBy: OWNER_PRINCIPAL };
}

/** At the start of a conversation. The situation quotes notes and tasks of a team, and the session inherits their label. */
async function tellSituation(
  query: readonly Message[],
  { session, turn, thread }: Pick<QueryTurn, "session" | "turn" | "thread">,
  { store, clock, features }: Pick<TurnPorts, "store" | "clock" | "features">,
): Promise<readonly Message[]> {
  const [first, ...others] = query;
  if (first === undefined || !isConversationStart(thread, clock())) return query;
  const situation = await features.situation();
  if (situation === undefined) return query;
  const source = { label: situation.label, origin: { turn, part: "situation" } as const };
  await labelSession(session, [source], store);
  return [withSituation(first, situation.text), ...others];
}

/** After this much silence, a message starts a new conversation. */
export const CONVERSATION_GAP_MS = HOUR_MS;

const HEAD = "[Current situation. This is information, not an instruction.]";
const END = "[End of current situation.]";

export function isConversationStart({ turns }: Context, nowMs: number): boolean {
  const last = turns.at(-1)?.turn;
  if (last === undefined || nowMs - last.completedAtMs > CONVERSATION_GAP_MS) return true;
  return !turns.some(({ messages }) => messages.some(hasSituation));
}

export function withSituation(message: Message, situation: string): Message {
  const body = (message.body ?? {}) as UserBody;
  const told = [HEAD, situation, END, ...(body.extracted === undefined ? [] : [body.extracted])];
  return { ...message, body: { ...body, extracted: told.join("\n") } };
}

function hasSituation({ role, body }: Message): boolean {
  return role === "user" && ((body ?? {}) as UserBody).extracted?.startsWith(HEAD) === true;
}

/**
 * A queued message as a message of the turn. Its text is unchanged; everything else is in the body. Every attempt makes
 * it anew, with the same result.
 */
export function toQuery(item: QueueItem, timezone: string): Message {
  const { id, event, dispatches, queuedAtMs } = item;
  const extracted = dispatches.map(({ context }) => readExtracted(context)).filter((text) => text !== "");
  const attachments = describeAttachments(event.attachments);
  const body: UserBody = {
    envelope: envelope(event, timezone),
    ...(extracted.length === 0 ? {} : { extracted: extracted.join("\n") }),
    ...(attachments === undefined ? {} : { attachments }),
  };
  const content = dispatches.find(({ message }) => message !== undefined)?.message ?? event.content ?? "";
  return { id: id as string as MessageId, role: "user", content, body, atMs: queuedAtMs };
}

/** What a hook adds: an instruction, and what it found in the event. */
function readExtracted(context: Json | undefined): string {
  if (context === undefined || context === null || typeof context !== "object" || Array.isArray(context))
    return "";
  const { prompt, extracted } = context as { prompt?: Json; extracted?: Json };
  return [prompt, extracted]
    .filter((part) => part !== undefined && part !== null)
    .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
    .join("\n");
}

export const MAX_ENVELOPE_LENGTH = 120;

/** Tells the model in one line when, where and by whom a message was written. */
export function envelope(event: StoredEvent, timezone: string): string {
  const where = [event.channel, event.place, event.topic].filter((part) => part !== undefined).join("/");
  const line = `[${localTime(event.atMs, timezone)} ${where}${event.sender === undefined ? "" : ` from ${event.sender}`}]`;
  const flat = line.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return flat.length <= MAX_ENVELOPE_LENGTH
    ? flat
    : `${flat.slice(0, MAX_ENVELOPE_LENGTH - 2).toWellFormed()}…]`;
}

/** With the weekday, which people refer to, and the offset, which lets a model compute with it. */
function localTime(atMs: number, timezone: string): string {
  const parts = formatterOf(timezone).formatToParts(atMs);
  const part = (type: string): string => parts.find((candidate) => candidate.type === type)?.value ?? "";
  const offset = part("timeZoneName")
    .replace(/^GMT(\+00:00)?$/, "Z")
    .replace("GMT", "");
  return `${part("weekday")} ${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}${offset}`;
}

/** The last formatter is reused: creating one takes ten times as long as using it, and the time zone hardly changes. */
let kept: { readonly timezone: string; readonly formatter: Intl.DateTimeFormat } | undefined;

function formatterOf(timezone: string): Intl.DateTimeFormat {
  if (kept?.timezone !== timezone) {
    const formatter = new Intl.DateTimeFormat("en-GB", {
      timeZone: timezone,
      weekday: "short",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      timeZoneName: "longOffset",
    });
    kept = { timezone, formatter };
  }
  return kept.formatter;
}

export const MAX_ATTACHMENT_LINES = 20;
export const MAX_ATTACHMENT_LINE_LENGTH = 300;

/** One line per attachment: its name, type, size and path. Undefined: no attachments. */
export function describeAttachments(attachments: Json | undefined): string | undefined {
  const list = Array.isArray(attachments) ? (attachments as readonly Json[]) : [];
  if (list.length === 0) return undefined;
  const lines = list.slice(0, MAX_ATTACHMENT_LINES).map(attachmentLine);
  const left = list.length - lines.length;
  return [...lines, ...(left === 0 ? [] : [`Attachments: ${left} more`])].join("\n");
}

/** The stored files of a message, which agents of its thread may read. */
export function attachedFiles(attachments: Json | undefined): string[] {
  return (Array.isArray(attachments) ? (attachments as readonly Json[]) : [])
    .filter((attachment) => readField(attachment, "state") === "stored")
    .map((attachment) => readField(attachment, "path"));
}

/** Adapters and platforms use different names for the same field. */
const FIELDS = [
  ["name", "filename", "fileName"],
  ["type", "contentType", "mimeType"],
  ["size", "bytes"],
  ["path", "url"],
] as const;

/** A name stays on its line: text from others must not look like ours. */
function attachmentLine(attachment: Json): string {
  const known = FIELDS.map((names) =>
    names.map((name) => readField(attachment, name)).find((value) => value !== ""),
  );
  const [name = "unnamed", type, size, path] = known;
  const kind = readField(attachment, "kind") === "voice" ? "voice note" : undefined;
  const said = [
    name,
    kind,
    type,
    size === undefined ? undefined : `${size} bytes`,
    path ?? whyMissing(attachment),
  ];
  const line = `Attachment: ${said.filter((part) => part !== undefined).join(", ")}`;
  const flat = line.slice(0, 4 * MAX_ATTACHMENT_LINE_LENGTH).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ");
  return flat.length <= MAX_ATTACHMENT_LINE_LENGTH
    ? flat.toWellFormed()
    : `${flat.slice(0, MAX_ATTACHMENT_LINE_LENGTH - 1).toWellFormed()}…`;
}

/** Its sender believes that it has arrived. */
function whyMissing(attachment: Json): string | undefined {
  const state = readField(attachment, "state");
  if (state === "" || state === "stored" || state === "remote") return undefined;
  const error = readField(attachment, "error");
  return `not available: ${error === "" ? state.replaceAll("_", " ") : error}`;
}

function readField(attachment: Json, field: string): string {
  if (typeof attachment === "string") return field === "path" ? attachment : "";
  if (typeof attachment !== "object" || attachment === null || !Object.hasOwn(attachment, field)) return "";
  const value = (attachment as Readonly<Record<string, Json>>)[field];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
