/**
 * Full-text search: candidates from the index, and events that are not indexed yet, scored alike.
 *
 * The work is bounded, whatever the size of the ledger. For words that nearly every text holds, only the newest texts are
 * read; SQLite ranks rarer words over many more.
 */
import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { Direction } from "../../model/event.ts";
import { excerpt } from "../../model/excerpt.ts";
import type { TurnId } from "../../model/ids.ts";
import { relevance, type Spaced, spaced, type Wanted, weigh } from "../../model/relevance.ts";
import { type Query, readQuery, type Term, words } from "../../model/words.ts";
import {
  DEFAULT_HIT_LENGTH,
  DEFAULT_HITS,
  MAX_HITS,
  MAX_SEARCHED_CHARACTERS,
  SEARCHED_TAIL,
  type SearchHit,
  type SearchOptions,
} from "../store.ts";
import {
  HEARD_COLUMNS,
  type HeardRow,
  HEARING,
  type HearingValues,
  labelOfEvent,
  principalOf,
} from "./heard.ts";
import { channelWord, INDEXED } from "./index-events.ts";
import { checkCount, START } from "./page.ts";
import { checkMoment } from "./read-events.ts";
import { required } from "./row.ts";

/** A word in this many texts says little about which of them is meant. */
const COMMON = 10_000;
/** How many of the newest matches SQLite ranks, and how many of those are read. */
const RANKED = 5_000;
const READ = 200;

/** A validated search. */
export interface SearchRequest {
  readonly text: string;
  readonly limit: number;
  readonly channels: readonly string[] | null;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly textLength: number;
  readonly audience: string | null;
  readonly writtenBy: string | null;
}

export function checkSearch(text: string, options: SearchOptions = {}): SearchRequest {
  const { limit = DEFAULT_HITS, channels = null, textLength = DEFAULT_HIT_LENGTH } = options;
  return {
    text,
    limit: checkAtMost(limit, MAX_HITS),
    channels,
    sinceMs: checkMoment(options.sinceMs ?? -START),
    untilMs: checkMoment(options.untilMs ?? START),
    textLength: checkAtMost(textLength, MAX_SEARCHED_CHARACTERS),
    audience: options.audience ?? null,
    writtenBy: options.writtenBy ?? null,
  };
}

function checkAtMost(count: number, most: number): number {
  if (checkCount(count) <= most) return count;
  throw new CortexError("limit_invalid", `Limit ${count} is too large`, {
    hint: `Use at most ${most}, or narrow the search by time or channel.`,
  });
}

interface Doc {
  readonly seq: number;
  readonly atMs: number;
  readonly text: string;
  readonly spaced: Spaced;
}

export function prepareSearchEvents(db: Database): (request: SearchRequest) => SearchHit[] {
  const readState = db.prepare<[], LedgerState>(
    `select (${INDEXED}) as indexed, coalesce((select max(seq) from event), 0) as last,
            coalesce(min((select max(at_ms) from event), (select received_ms from event order by seq desc limit 1)), 0)
              as newestMs`,
  );
  const countTerm = db
    .prepare<[string], number>(
      `select count(*) from (select 1 from search where search match ? limit ${COMMON})`,
    )
    .pluck();
  const readDoc = db.prepare<[number], DocRow>(`${DOC} where e.seq = ?`);
  const readHit = db.prepare<[number], HitRow>(
    `select e.id, e.at_ms, e.channel, e.direction, e.sender, p.place, t.id as turn, t.trust, ${HEARD_COLUMNS}
     from event e left join place p on p.key = e.place left join turn t on t.key = e.message / 65536
     where e.seq = ?`,
  );
  const readTail = prepareReadTail(db);
  const findCandidates = prepareCandidates(db);

  return (request) => {
    const query = readQuery(request.text);
    if (query.terms.length === 0 || request.channels?.length === 0) return [];
    // The index's position is read first: an event indexed after that is seen twice, and not missed.
    const state = required(readState.get());
    const docs = readTail(request, state);
    const counts = new Map(
      query.terms.map((term) => [term, required(countTerm.get(`content : ${quote(term.text)}`))]),
    );
    for (const seq of findCandidates(query, counts, request)) {
      if (!docs.has(seq)) docs.set(seq, toDoc(required(readDoc.get(seq))));
    }
    const tail = [...docs.values()].filter(({ seq }) => seq > state.indexed);
    const wanted = { query, weights: weigh(state.last, addTail(counts, tail)) };
    return rank([...docs.values()], wanted, state.newestMs)
      .slice(0, request.limit)
      .map((ranking) => {
        const text = excerpt(ranking.doc.text, wanted, request.textLength);
        return toHit(required(readHit.get(ranking.doc.seq)), text, ranking.score);
      });
  };
}

/** Reads the events that the index does not hold yet. */
function prepareReadTail(db: Database) {
  // The plus signs keep SQLite from scanning all events by time: few come after.
  const find = db.prepare<[TailBounds], DocRow>(
    `${DOC} where e.seq > @after and +e.at_ms >= @sinceMs and +e.at_ms < @untilMs
       and (@channels is null or e.channel in (select value from json_each(@channels)))
       and ${HEARING}`,
  );
  return (request: SearchRequest, { indexed, last }: LedgerState): Map<number, Doc> => {
    const { sinceMs, untilMs, audience, writtenBy } = request;
    const channels = request.channels === null ? null : JSON.stringify(request.channels);
    const after = Math.max(indexed, last - SEARCHED_TAIL);
    const rows = find.all({ after, sinceMs, untilMs, channels, audience, writtenBy });
    return new Map(rows.map((row) => [row.seq, toDoc(row)]));
  };
}

/** Finds events with all words; if they are too few, with any rare word; if still too few, with any common word. */
function prepareCandidates(db: Database) {
  const findSpan = db.prepare<[number, number], { first: number | null; last: number | null }>(
    "select min(seq) as first, max(seq) as last from event where at_ms >= ? and at_ms < ?",
  );
  const newest = db.prepare<[MatchBounds], number>(`${matching("search.rowid")} limit ${READ}`).pluck();
  const ranked = db
    .prepare<[MatchBounds], number>(
      `select seq from (${matching("search.rowid as seq, bm25(search) as rank")} limit ${RANKED})
       order by rank limit ${READ}`,
    )
    .pluck();

  return ({ terms, phrases }: Query, counts: TermCounts, request: SearchRequest): Set<number> => {
    const countOf = (term: Term) => counts.get(term) ?? 0;
    const common = terms.filter((term) => countOf(term) >= COMMON);
    const rare = terms.filter((term) => countOf(term) < COMMON && (countOf(term) > 0 || term.begins));
    const all = terms.every((term) => countOf(term) > 0) ? phrases.map(quote).join(" AND ") : "";
    const bounds = boundsOf(request);
    const found = new Set<number>();
    for (const [match, find] of [
      [all, common.length === 0 ? ranked : newest],
      [anyOf(rare), ranked],
      [anyOf(common), newest],
    ] as const) {
      if (match === "" || found.size >= request.limit || bounds === undefined) continue;
      for (const seq of find.all({ ...bounds, match: inChannels(match, request.channels) })) found.add(seq);
    }
    return found;
  };

  /** Undefined: nothing happened in that time. */
  function boundsOf(request: SearchRequest): Omit<MatchBounds, "match"> | undefined {
    const { sinceMs, untilMs, audience, writtenBy } = request;
    const bounds = { sinceMs, untilMs, audience, writtenBy };
    if (sinceMs === -START && untilMs === START) return { ...bounds, first: 0, last: START };
    const { first, last } = required(findSpan.get(sinceMs, untilMs));
    return first === null || last === null ? undefined : { ...bounds, first, last };
  }
}

/** How many events search misses because the index is behind. */
export function prepareUnsearched(db: Database): () => number {
  const read = db
    .prepare<[], number>(`select max(0, coalesce(max(seq), 0) - (${INDEXED}) - ${SEARCHED_TAIL}) from event`)
    .pluck();
  return () => required(read.get());
}

/** An event is as old as its platform says, and at least as old as its receipt: no time makes the others look old. */
const DOC = `select e.seq, min(e.at_ms, e.received_ms) as at_ms, substr(coalesce(e.content, m.content), 1, ${MAX_SEARCHED_CHARACTERS}) as text
  from event e left join message m on m.key = e.message`;

/** The index comes first, because it narrows the search most. */
function matching(columns: string): string {
  return `select ${columns} from search cross join event e on e.seq = search.rowid
    where search match @match and search.rowid between @first and @last
      and e.at_ms >= @sinceMs and e.at_ms < @untilMs and ${HEARING}
    order by search.rowid desc`;
}

interface MatchBounds extends HearingValues {
  readonly match: string;
  readonly first: number;
  readonly last: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface TailBounds extends HearingValues {
  readonly after: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly channels: string | null;
}

interface LedgerState {
  /** The last event that the index holds. */
  readonly indexed: number;
  readonly last: number;
  readonly newestMs: number;
}

interface DocRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly text: string | null;
}

interface HitRow extends HeardRow {
  readonly at_ms: number;
  readonly direction: Direction;
  readonly place: string | null;
  readonly turn: TurnId | null;
}

/** How many indexed texts hold each term of a query, at most COMMON. */
type TermCounts = ReadonlyMap<Term, number>;

interface Ranking {
  readonly doc: Doc;
  readonly score: number;
}

function toHit(row: HitRow, text: string, score: number): SearchHit {
  return {
    event: row.id,
    turn: row.turn ?? undefined,
    channel: row.channel,
    direction: row.direction,
    sender: row.sender ?? undefined,
    place: row.place ?? undefined,
    atMs: row.at_ms,
    principal: principalOf(row),
    label: labelOfEvent(row),
    text,
    score,
  };
}

function toDoc({ seq, at_ms: atMs, text }: DocRow): Doc {
  return { seq, atMs, text: text ?? "", spaced: spaced(words(text ?? "")) };
}

/** Words hold letters and digits only, so nothing in the quotes is FTS5 syntax. */
function quote(text: string): string {
  return `"${text}"`;
}

function anyOf(terms: readonly Term[]): string {
  return terms.map(({ text, begins }) => (begins ? `${quote(text)} *` : quote(text))).join(" OR ");
}

function inChannels(match: string, channels: readonly string[] | null): string {
  const content = `content : (${match})`;
  if (channels === null) return content;
  return `${content} AND channel : (${channels.map((name) => quote(channelWord(name))).join(" OR ")})`;
}

/** How many texts hold each term, including those that are not indexed yet. */
function addTail(counts: TermCounts, tail: readonly Doc[]): number[] {
  return Array.from(
    counts,
    ([{ text }, count]) => count + tail.filter((doc) => doc.spaced.text.includes(` ${text} `)).length,
  );
}

/** Best first; among equals, newest first. */
function rank(docs: readonly Doc[], wanted: Wanted, newestMs: number): Ranking[] {
  return docs
    .map((doc) => ({ doc, score: relevance(doc.spaced, wanted, Math.max(0, newestMs - doc.atMs)) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || b.doc.atMs - a.doc.atMs || b.doc.seq - a.doc.seq);
}
