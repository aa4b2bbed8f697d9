/**
 * Filters decide which events a hook is asked about. They are applied here and not by the hook, so a thousand hooks cost
 * little for an event that none of them wants. They are compiled once. Patterns are matched in `patterns/`.
 */
import { type Direction, TIMER_ADAPTER } from "../../model/event.ts";
import { CortexError } from "../../model/errors.ts";
import { canonicalJson, isJsonObject, type Json } from "../../model/json.ts";
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
}

/** Patterns are matched against this much of the content, from its start. */
export const MAX_MATCHED_CONTENT = 16 * 1024;
export const MAX_MATCH_LENGTH = 1_000;

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

/** Throws `hook_failed` or `schedule_invalid`. Does not check `match`: `patterns/` does. */
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
  };
}

export interface Circumstances {
  /** The configured one, for schedules without their own. */
  readonly timezone: string;
  /** When the hook was created: it missed nothing before. */
  readonly createdAtMs: number;
}

/** Whether a hook is asked about an event, leaving its pattern aside. */
export function passes(filter: CompiledFilter, event: StoredEvent, given: Circumstances): boolean {
  return concerns(filter, event) && (filter.schedule === undefined || isScheduled(filter, event, given));
}

/** Whether an event concerns the hook at any time, leaving its pattern and schedule aside. */
function concerns(filter: CompiledFilter, event: StoredEvent): boolean {
  const { channels, senders, types, metadata, match, schedule } = filter;
  if (match !== undefined && event.content === null) return false;
  if (!filter.directions.has(event.direction)) return false;
  if (channels !== undefined && !matches(channels, event.channel)) return false;
  if (schedule !== undefined && event.channel !== TIMER_ADAPTER) return false;
  if (senders !== undefined && (event.sender === undefined || !matches(senders, event.sender))) return false;
  if (types !== undefined && !typesOf(event).some((type) => matches(types, type))) return false;
  return metadata.every(([field, value]) => fieldOf(event.metadata, field) === value);
}

/** For each filter, whether its pattern occurs in an event's content. An error: the pattern could not be matched. */
export async function matchPatterns(
  filters: readonly Pick<CompiledFilter, "match">[],
  { content }: Pick<StoredEvent, "content">,
): Promise<(boolean | CortexError)[]> {
  const patterns = [...new Set(filters.flatMap(({ match }) => match ?? []))];
  const found = content === null ? NO_PATTERNS : await findPatterns(patterns, content);
  return filters.map(({ match }) => match === undefined || (found.get(match) ?? false));
}

type PatternMatches = ReadonlyMap<string, boolean | CortexError>;
const NO_PATTERNS: PatternMatches = new Map();

/** All patterns at once or, if that fails, one by one: a pattern that cannot be matched fails alone. */
async function findPatterns(patterns: readonly string[], content: string): Promise<PatternMatches> {
  if (patterns.length === 0) return NO_PATTERNS;
  try {
    const [found = []] = await ownerPatterns.test(patterns, [content.slice(0, MAX_MATCHED_CONTENT)]);
    return new Map(patterns.map((pattern, at) => [pattern, found[at] ?? false]));
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    if (patterns.length === 1) return new Map(patterns.map((pattern) => [pattern, error]));
    const found: (readonly [string, boolean | CortexError])[] = [];
    for (const pattern of patterns) found.push(...(await findPatterns([pattern], content)));
    return new Map(found);
  }
}

/** The missed time of its schedule that a hook is asked about: the newest of those that the event reports. */
export function missedMinute(
  filter: CompiledFilter,
  event: StoredEvent,
  given: Circumstances,
): number | undefined {
  if (filter.catchUp !== "once" || isDue(filter, event, given)) return undefined; // one firing is enough
  return newestMissed(filter, event, given);
}

/** The newest missed time of its schedule that a hook does not catch up on. */
export function skippedMinute(
  filter: CompiledFilter,
  event: StoredEvent,
  given: Circumstances,
): number | undefined {
  if (filter.schedule === undefined || filter.catchUp !== "skip" || !concerns(filter, event))
    return undefined;
  return newestMissed(filter, event, given);
}

function newestMissed(
  { schedule, timezone }: CompiledFilter,
  { metadata }: StoredEvent,
  { timezone: usual, createdAtMs }: Circumstances,
): number | undefined {
  const missed = fieldsOf(metadata)["missed"];
  if (schedule === undefined || !isJsonObject(missed)) return undefined;
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
  const { type } = fieldsOf(metadata);
  return [contentType, type].filter((text) => typeof text === "string");
}

function fieldOf(metadata: Json | undefined, field: string): string | undefined {
  const value = fieldsOf(metadata)[field];
  return value === undefined ? undefined : canonicalJson(value);
}

function fieldsOf(value: Json | undefined): { readonly [field: string]: Json } {
  return isJsonObject(value) ? value : {};
}

function readFields(filter: unknown): Fields {
  if (filter === undefined || filter === null) return {};
  if (typeof filter !== "object" || Array.isArray(filter)) throw invalid("an object", filter);
  const unknown = Object.keys(filter).find((field) => !FIELDS.some((known) => known === field));
  if (unknown !== undefined) throw invalid(`only ${FIELDS.join(", ")}`, unknown);
  return filter;
}

function readTexts(field: string, value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.every((text) => typeof text === "string")) return list;
  throw invalid(`strings as \`${field}\``, value);
}

function readText(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw invalid(`a string as \`${field}\``, value);
}

function readDirections(value: unknown): readonly Direction[] {
  return (readTexts("directions", value) ?? ["received"]).map((name) => {
    const direction = DIRECTIONS.find((known) => known === name);
    if (direction === undefined) throw invalid(`${DIRECTIONS.join(", ")} as \`directions\``, name);
    return direction;
  });
}

function readMetadata(value: unknown): CompiledFilter["metadata"] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "object" || Array.isArray(value)) throw invalid("an object as `metadata`", value);
  return Object.entries(value).map(([field, wanted]) => [field, canonicalJson(wanted)] as const);
}

function readCatchUp(value: unknown): "skip" | "once" {
  if (value === undefined || value === null || value === "skip") return "skip";
  if (value === "once") return "once";
  throw invalid('"skip" or "once" as `catchUp`', value);
}

function readPattern(value: unknown): string | undefined {
  const pattern = readText("match", value);
  if (pattern !== undefined && pattern.length > MAX_MATCH_LENGTH)
    throw invalid(`at most ${MAX_MATCH_LENGTH} characters in \`match\``, pattern);
  return pattern;
}

function invalid(expected: string, value: unknown): CortexError {
  const got = JSON.stringify(value).slice(0, 200);
  return new CortexError("hook_failed", `Invalid filter: expected ${expected}, got ${got}`, {
    hint: "See the type Filter of cortexd/hooks.",
  });
}
