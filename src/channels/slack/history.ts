/** Messages of channels and threads, read back: to find what was sent, and what was missed. */
import { setTimeout as pause } from "node:timers/promises";

import { DAY_MS, MINUTE_MS } from "../../model/durations.ts";
import { CortexError, errorText } from "../../model/errors.ts";
import { deliveryRefused, type Inbound, type KnownPlace, type Sink } from "../channel.ts";
import type { Params, SlackApi } from "./api.ts";
import { fromMessage, message, type Message, msOf, type Reader, topicOf } from "./events.ts";

/** The most that Slack advises to ask for at once. */
const PAGE = 200;
const MAX_PAGES = 50;
/** Further places are not looked at. */
const MAX_PLACES = 200;
/** A message may be under way, and not in the history yet. */
export const MARGIN_MS = 5 * MINUTE_MS;

type Caller = Pick<SlackApi, "call">;

interface Span {
  readonly channel: string;
  readonly topic?: string | undefined;
  readonly sinceMs: number;
}

/** The messages of a channel outside of its threads, or of a thread. */
export async function* readHistory(span: Span, api: Caller, signal: AbortSignal): AsyncGenerator<Message> {
  const { channel, topic, sinceMs } = span;
  const method = topic === undefined ? "conversations.history" : "conversations.replies";
  const params = { channel, ts: topic, oldest: String(sinceMs / 1_000), include_all_metadata: true };
  for await (const each of readPages(method, "messages", params, { api, signal })) {
    const { data } = message.safeParse(each);
    // The first message of a thread comes along, however old it is.
    if (data !== undefined && msOf(data.ts) >= sinceMs && topicOf(data) === topic) yield data;
  }
}

async function* readPages(
  method: string,
  list: string,
  params: Params,
  { api, signal }: { readonly api: Caller; readonly signal: AbortSignal },
): AsyncGenerator {
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page: { readonly [field: string]: unknown; response_metadata?: { next_cursor?: string } } =
      await api.call(method, { ...params, limit: PAGE, cursor }, { signal });
    yield* page[list] as unknown[];
    cursor = page.response_metadata?.next_cursor;
    if (cursor === undefined || cursor === "") return;
  }
  throw deliveryRefused(`More than ${MAX_PAGES * PAGE} messages to look at in Slack`, {
    hint: "Look there yourself.",
  });
}

interface BackfillPorts {
  readonly api: SlackApi;
  readonly reader: Reader;
  readonly log: (line: string) => void;
}

/**
 * Commits what was missed. The cursor says up to when nothing is missing: what came live may be newer than what was missed.
 * Without one, what is known of each place does.
 */
export async function backfill(
  sink: Sink,
  known: readonly KnownPlace[],
  signal: AbortSignal,
  { api: asked, reader, log }: BackfillPorts,
): Promise<void> {
  const api = patient(asked);
  const { dateMs: startedAtMs } = await api.call("auth.test", {}, { signal });
  const { seenToMs } = ((await sink.cursor()) ?? {}) as { readonly seenToMs?: number };
  const spans = known.map(({ place, topic, atMs }): Span => {
    return { channel: place, topic, sinceMs: (seenToMs ?? atMs) - MARGIN_MS };
  });
  const problems: string[] = [];
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof CortexError) || error.transient) throw error;
      problems.push(errorText(error)); // such as a channel that the app has left
    }
  };
  if (seenToMs !== undefined)
    await attempt(async () => {
      const types = "public_channel,private_channel,mpim,im";
      const joined = readPages("users.conversations", "channels", { types }, { api, signal });
      for await (const { id } of joined as AsyncGenerator<{ readonly id: string }>)
        if (!known.some(({ place, topic }) => place === id && topic === undefined))
          spans.push({ channel: id, sinceMs: seenToMs - MARGIN_MS });
    });
  const threads = new Set<string>();
  for (const span of spans.slice(0, MAX_PLACES))
    await attempt(async () => {
      const missed = await readMissed(span, threads, { api, reader, signal });
      if (missed.length > 0) await sink.commit(missed);
    });
  if (problems.length > 0) log(`Missed messages of ${problems.length} places cannot be read: ${problems[0]}`);
  await sink.commit([], { seenToMs: startedAtMs });
}

interface ReadPorts {
  readonly api: Caller;
  readonly reader: Reader;
  readonly signal: AbortSignal;
}

/** In the order in which it was said, with what was said in threads that began up to a day before. */
async function readMissed(span: Span, threads: Set<string>, ports: ReadPorts): Promise<readonly Inbound[]> {
  const { channel, topic, sinceMs } = span;
  const { api, reader, signal } = ports;
  const thread = `${channel}:${topic}`;
  if (topic !== undefined && threads.has(thread)) return [];
  threads.add(thread);
  const found: Inbound[] = [];
  const wider = topic === undefined ? { ...span, sinceMs: sinceMs - DAY_MS } : span;
  for await (const said of readHistory(wider, api, signal)) {
    if (msOf(said.ts) >= sinceMs) found.push(...(await fromMessage(said, { channel }, reader)));
    if (topic === undefined && said.latest_reply !== undefined && msOf(said.latest_reply) >= sinceMs)
      found.push(...(await readMissed({ channel, topic: said.ts, sinceMs }, threads, ports)));
  }
  return found.toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1));
}

/** Reading sends nothing, so it may wait until Slack allows it. */
function patient(api: SlackApi): Caller {
  return {
    async call(method, params, options) {
      for (;;) {
        try {
          return await api.call(method, params, options);
        } catch (error) {
          if (!(error instanceof CortexError) || error.retryAfterMs === undefined) throw error;
          await pause(error.retryAfterMs, undefined, { signal: options.signal });
        }
      }
    },
  };
}
