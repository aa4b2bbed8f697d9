/**
 * Filters: which events a hook is asked about, judged here and not by the hook, so that a thousand hooks cost little
 * for an event that none of them wants. They are read once. Patterns are matched in `patterns/`.
 */
import { type Direction, TIMER_ADAPTER } from "../../model/event.ts";
import { CortexError } from "../../model/errors.ts";
import { canonicalJson, type Json } from "../../model/json.ts";
import { matches } from "../../model/permissions.ts";
import { matchesMinute, missedSince, parseSchedule, type Schedule } from "../../model/schedule.ts";
import { ownerPatterns } from "../../patterns/matcher.ts";
import type { StoredEvent } from "../../store/store.ts";

export interface CompiledFilter {
  readonly directions: ReadonlySet<Direction>;
  readonly channels: readonly string[] | undefined;
  readonly senders: readonly string[] | undefined;
  readonly types: readonly string[] | undefined;
  readonly metadata: readonly (readonly [field: string, value: string])[];
  readonly match: string | undefined;
  readonly schedule: Schedule | undefined;
  readonly timezone: string | undefined;
  readonly catchUp: "skip" | "once";
  /** As it is kept and shown. */
  readonly json: Json | undefined;
}

/** So much of a content is matched, from its beginning. */
export const MAX_MATCHED_CHARACTERS = 16 * 1024;
export const MAX_PATTERN_LENGTH = 1_000;

const DIRECTIONS: readonly Direction[] = ["received", "sent", "observed", "created", "updated", "deleted"];
const FIELDS = [
  "channels",
  "directions",
  "senders",
  "types",
  "match",
  "metadata",
  "cron",
  "timezone",
  "catchUp",
] as const;
type Fields = Readonly<Partial<Record<(typeof FIELDS)[number], unknown>>>;

/** Throws `hook_failed` or `schedule_invalid`. Whether `match` is a pattern is for `patterns/` to say. */
export function compileFilter(filter: unknown): CompiledFilter {
  const fields = readFields(filter);
  const timezone = readText("timezone", fields.timezone);
  const cron = readText("cron", fields.cron);
  return {
    directions: new Set(readDirections(fields.directions)),
    channels: readTexts("channels", fields.channels),
    senders: readTexts("senders", fields.senders),
    types: readTexts("types", fields.types),
    metadata: readMetadata(fields.metadata),
    match: readPattern(fields.match),
    schedule: cron === undefined ? undefined : parseSchedule(cron, timezone),
    timezone,
    catchUp: readCatchUp(fields.catchUp),
    json: filter === undefined || filter === null ? undefined : (filter as Json),
  };
}

export interface Circumstances {
  /** Of the configuration: for schedules that name none. */
  readonly timezone: string;
  /** Since when there has been the hook: it has missed nothing before. */
  readonly createdAtMs: number;
}

/** Whether a hook is to be asked about an event, as far as everything but its pattern says. */
export function passes(filter: CompiledFilter, event: StoredEvent, given: Circumstances): boolean {
  return isMeant(filter, event) && (filter.schedule === undefined || isScheduled(filter, event, given));
}

/** Whether an event is one for the hook, at whatever time, its pattern aside. */
function isMeant(filter: CompiledFilter, event: StoredEvent): boolean {
  const { channels, senders, types, metadata, match, schedule } = filter;
  if (match !== undefined && event.content === null) return false;
  if (!filter.directions.has(event.direction)) return false;
  if (channels !== undefined && !matches(channels, event.channel)) return false;
  if (schedule !== undefined && event.channel !== TIMER_ADAPTER) return false;
  if (senders !== undefined && (event.sender === undefined || !matches(senders, event.sender))) return false;
  if (types !== undefined && !typesOf(event).some((type) => matches(types, type))) return false;
  return metadata.every(([field, value]) => fieldOf(event.metadata, field) === value);
}

/**
 * For each filter, whether its pattern occurs in what an event says. An error: it could not be found out, and that is
 * the pattern's fault.
 */
export async function matchPatterns(
  filters: readonly Pick<CompiledFilter, "match">[],
  { content }: Pick<StoredEvent, "content">,
): Promise<(boolean | CortexError)[]> {
  const patterns = [...new Set(filters.flatMap(({ match }) => match ?? []))];
  const found = content === null ? new Map() : await findPatterns(patterns, content);
  return filters.map(({ match }) => match === undefined || (found.get(match) ?? false));
}

async function findPatterns(
  patterns: readonly string[],
  content: string,
): Promise<ReadonlyMap<string, boolean | CortexError>> {
  if (patterns.length === 0) return new Map();
  try {
    const [found] = await ownerPatterns.test(patterns, [content.slice(0, MAX_MATCHED_CHARACTERS)]);
    return new Map(patterns.map((pattern, at) => [pattern, found![at]!]));
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    if (patterns.length === 1) return new Map([[patterns[0]!, error]]);
    const found = new Map<string, boolean | CortexError>();
    for (const pattern of patterns)
      found.set(pattern, (await findPatterns([pattern], content)).get(pattern)!);
    return found;
  }
}

/**
 * The moment of a hook's schedule that was missed, where it is asked because of that: the newest of those without an
 * event, of which the next event tells.
 */
export function missedMinute(
  filter: CompiledFilter,
  event: StoredEvent,
  given: Circumstances,
): number | undefined {
  if (filter.catchUp !== "once" || isDue(filter, event, given)) return undefined; // one firing is enough
  return newestMissed(filter, event, given);
}

/** The newest moment of a hook's schedule that was missed and is not made up for, because the hook does not want it. */
export function skippedMinute(
  filter: CompiledFilter,
  event: StoredEvent,
  given: Circumstances,
): number | undefined {
  if (filter.schedule === undefined || filter.catchUp !== "skip" || !isMeant(filter, event)) return undefined;
  return newestMissed(filter, event, given);
}

function newestMissed(
  { schedule, timezone }: CompiledFilter,
  { metadata }: StoredEvent,
  { timezone: usual, createdAtMs }: Circumstances,
): number | undefined {
  const missed = objectOf(objectOf(metadata)?.["missed"]);
  if (schedule === undefined || missed === undefined) return undefined;
  const [fromMs, toMs] = [Number(missed["fromMs"]), Number(missed["toMs"])];
  return missedSince(schedule, Math.max(fromMs, createdAtMs) - 1, toMs, timezone ?? usual);
}

function isScheduled(filter: CompiledFilter, event: StoredEvent, given: Circumstances): boolean {
  return isDue(filter, event, given) || missedMinute(filter, event, given) !== undefined;
}

function isDue(
  { schedule, timezone }: CompiledFilter,
  { atMs }: StoredEvent,
  { timezone: usual }: Circumstances,
): boolean {
  return schedule !== undefined && matchesMinute(schedule, atMs, timezone ?? usual);
}

function typesOf({ contentType, metadata }: StoredEvent): string[] {
  const type = objectOf(metadata)?.["type"];
  return [contentType, type].filter((text) => typeof text === "string");
}

function fieldOf(metadata: Json | undefined, field: string): string | undefined {
  const value = objectOf(metadata)?.[field];
  return value === undefined ? undefined : canonicalJson(value);
}

function objectOf(value: Json | undefined): Readonly<Record<string, Json>> | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : undefined;
}

function readFields(filter: unknown): Fields {
  if (filter === undefined || filter === null) return {};
  if (typeof filter !== "object" || Array.isArray(filter)) throw invalid("is an object", filter);
  const unknown = Object.keys(filter).find((field) => !(FIELDS as readonly string[]).includes(field));
  if (unknown !== undefined) throw invalid(`has ${FIELDS.join(", ")}`, unknown);
  return filter;
}

function readTexts(field: string, value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.every((text) => typeof text === "string")) return list;
  throw invalid(`has texts as \`${field}\``, value);
}

function readText(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw invalid(`has a text as \`${field}\``, value);
}

function readDirections(value: unknown): readonly Direction[] {
  const given = readTexts("directions", value) ?? ["received"];
  const unknown = given.find((direction) => !(DIRECTIONS as readonly string[]).includes(direction));
  if (unknown !== undefined) throw invalid(`has directions out of ${DIRECTIONS.join(", ")}`, unknown);
  return given as readonly Direction[];
}

function readMetadata(value: unknown): CompiledFilter["metadata"] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "object" || Array.isArray(value)) throw invalid("has an object as `metadata`", value);
  return Object.entries(value).map(([field, wanted]) => [field, canonicalJson(wanted)] as const);
}

function readCatchUp(value: unknown): "skip" | "once" {
  if (value === undefined || value === null || value === "skip") return "skip";
  if (value === "once") return "once";
  throw invalid('has "skip" or "once" as `catchUp`', value);
}

function readPattern(value: unknown): string | undefined {
  const pattern = readText("match", value);
  if (pattern !== undefined && pattern.length > MAX_PATTERN_LENGTH)
    throw invalid(`has at most ${MAX_PATTERN_LENGTH} characters in \`match\``, pattern);
  return pattern;
}

function invalid(rule: string, value: unknown): CortexError {
  return new CortexError(
    "hook_failed",
    `A filter ${rule}, and this one has ${JSON.stringify(value).slice(0, 200)}`,
    { hint: "The type Filter of cortexd/hooks says what it may hold." },
  );
}
