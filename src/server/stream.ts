/**
 * Changes as server-sent events.
 *
 * Every change has a number, and several small changes can share one. Only the last of those carries it as its `id`,
 * so a client that is cut off in between gets all of them again. The deltas of an answer have no id: a client that
 * missed them reads the finished message.
 *
 * Nothing is buffered for slow clients: the next change is read when the previous one was taken.
 */
import { CortexError } from "../model/errors.ts";
import { normalizeSessionKey, type SessionKey } from "../model/session-key.ts";
import type { LiveEntry } from "../feature/live.ts";
import { isoTime } from "../feature/views.ts";
import { StreamQuery } from "../feature/requests.ts";
import { type RouteContext, route } from "../feature/route.ts";
import { type StreamEvent, tellChange, tellDelta } from "./stream-events.ts";

export const EVENT_STREAM = "text/event-stream";

export const streamRoute = route({
  method: "get",
  path: "/api/stream",
  needs: "read",
  summary: "Stream server-sent events of everything or one session; resume with Last-Event-ID",
  query: StreamQuery,
  answers: { 200: EVENT_STREAM },
  async handle({ query, header, signal, mayContinue }, context) {
    const seen = readSeen(query.lastEventId ?? header("last-event-id"));
    const since = seen ?? (await context.cortex.store.changes.last());
    const session = query.session === undefined ? undefined : normalizeSessionKey(query.session);
    const ends = AbortSignal.any([signal, context.closing]);
    const stream = ReadableStream.from(
      encoded(writeStream({ since, session, signal: ends, mayContinue }, context)),
    );
    // Keeps proxies from buffering.
    return new Response(stream, { headers: { "Content-Type": EVENT_STREAM, "X-Accel-Buffering": "no" } });
  },
});

interface Reader {
  readonly since: number;
  readonly session: SessionKey | undefined;
  readonly signal: AbortSignal;
  /** Asked before anything is sent. */
  readonly mayContinue: () => Promise<boolean>;
}

async function* writeStream(
  { since, session, signal, mayContinue }: Reader,
  context: RouteContext,
): AsyncGenerator<string> {
  const { cortex, heartbeatMs, clock, streams } = context;
  const ended = new AbortController();
  const batches = cortex.live.read({ since, signal: AbortSignal.any([signal, ended.signal]) });
  let next = batches.next(); // listens from here on: a client that has the first line misses nothing
  next.catch(() => {}); // a failure is handled where it is awaited
  let seen = since;
  streams.add(batches);
  try {
    yield writeSeen(seen);
    for (;;) {
      const batch = await within(heartbeatMs, next);
      if (!(await mayContinue())) {
        yield writeEvent({ type: "stream.ended", at: isoTime(clock()), reason: "token" }, undefined);
        return;
      }
      if (batch === undefined) {
        yield writeSeen(seen);
        continue;
      }
      if (batch.done === true) return;
      for await (const { event, seq } of tellBatch(batch.value, session, context)) {
        seen = seq ?? seen;
        if (event !== undefined) yield writeEvent(event, seq);
      }
      next = batches.next();
    }
  } finally {
    streams.delete(batches);
    ended.abort(); // it may be waiting for the next change
    await batches.return(undefined);
  }

  /** Keeps the connection open, and moves the id on past changes of other sessions. */
  function writeSeen(seq: number): string {
    return `: ${isoTime(clock())}\nid: ${seq}\n\n`;
  }
}

/** `seq` is set on the last event of a change. */
interface Numbered {
  readonly event: StreamEvent | undefined;
  readonly seq: number | undefined;
}

async function* tellBatch(
  entries: readonly LiveEntry[],
  session: SessionKey | undefined,
  { cortex, clock }: RouteContext,
): AsyncGenerator<Numbered> {
  const isWanted = (about: object): boolean =>
    session === undefined ||
    ("session" in about && about.session === session) ||
    ("chat" in about && about.chat === session); // approvals are shown in the chat that started the work
  for (const [index, entry] of entries.entries()) {
    switch (entry.kind) {
      case "gap":
        yield { event: { type: "stream.reset", at: isoTime(clock()) }, seq: undefined };
        break;
      case "notice":
        yield { event: { type: entry.type, at: isoTime(entry.atMs) }, seq: undefined };
        break;
      case "delta":
        if (isWanted(entry)) yield { event: tellDelta(entry), seq: undefined };
        break;
      case "change": {
        const { change } = entry;
        const after = entries[index + 1];
        const isLast = after?.kind !== "change" || after.change.seq !== change.seq;
        // Only the event of a relay names its session.
        const told =
          isWanted(change) || change.kind === "relay" ? await tellChange(change, cortex.store) : [];
        const events = change.kind === "relay" ? told.filter(isWanted) : told;
        for (const event of events.slice(0, -1)) yield { event, seq: undefined };
        yield { event: events.at(-1), seq: isLast ? change.seq : undefined };
      }
    }
  }
}

function writeEvent(event: StreamEvent, seq: number | undefined): string {
  const id = seq === undefined ? "" : `id: ${seq}\n`;
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Undefined: timed out. The promise can be awaited again. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}

function readSeen(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CortexError("request_invalid", `Invalid change id ${JSON.stringify(text.slice(0, 80))}`, {
    hint: "Set Last-Event-ID to the `id` of the last event you read.",
  });
}
