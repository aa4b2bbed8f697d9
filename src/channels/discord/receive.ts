/**
 * What comes in. A session of the gateway is resumed behind what is stored, so that Discord sends the rest again. When it
 * has forgotten the session, there is a gap, which is stored, too, until everything behind it was read from the channels.
 */
import { DAY_MS, MINUTE_MS } from "../../model/durations.ts";
import { CortexError, errorText } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { present } from "../../model/present.ts";
import {
  type ChannelPorts,
  type Connection,
  deliveryFailed,
  type Inbound,
  type KnownPlace,
  type Sink,
} from "../channel.ts";
import type { DiscordApi } from "./api.ts";
import { type Dispatch, Gateway, type Session } from "./gateway.ts";
import { idAt, type Interaction, type Message, PRESSED, Reader, type User } from "./inbound.ts";
import { type Channel, ifAllowed, Places } from "./places.ts";

interface Position {
  readonly session?: Session;
  /** The newest message of the stream. */
  readonly newest?: string;
}

interface Cursor extends Position {
  /** Messages after this one may be missing. */
  readonly gap?: string;
}

interface ReceiverPorts extends Pick<ChannelPorts, "clock" | "log"> {
  readonly api: DiscordApi;
  readonly token: string;
  readonly gatewayUrl: string | undefined;
}

/** Older messages are not read after a gap. */
const MAX_GAP_MS = DAY_MS;
/** Discord orders messages within a channel, and almost over all; its clock and ours may differ. */
const DISORDER_MS = 5 * MINUTE_MS;
const PAGE = 100;

export class Receiver implements Pick<Required<Connection>, "receive" | "backfill"> {
  readonly #ports: ReceiverPorts;
  readonly #places: Places;
  #reader: Reader | undefined;
  #position: Position = {};
  #gap: string | undefined;
  #storedAtMs = 0;
  /** The session goes on, and has nothing to make up for. */
  #isContinued = false;
  /** What the session begins with is stored. */
  #hasBegun = false;
  /** Resolved once the gap was looked at: what is newer waits for what is older. */
  #filled = Promise.withResolvers<void>();

  constructor(ports: ReceiverPorts) {
    this.#ports = ports;
    this.#places = new Places(ports.api);
  }

  async receive(sink: Sink, signal: AbortSignal): Promise<void> {
    const { api, token, gatewayUrl, clock } = this.#ports;
    this.#reader = new Reader(await api<User>("GET /users/@me", signal), this.#places, clock);
    ({ gap: this.#gap, ...this.#position } = ((await sink.cursor()) ?? {}) as Cursor);
    const { session } = this.#position;
    this.#isContinued = session !== undefined;
    const gateway = new Gateway({
      url: `${gatewayUrl ?? session?.url ?? (await findGateway(api, signal))}/?v=10&encoding=json`,
      token,
      session,
      storedSeq: () => this.#position.session?.seq,
      take: (dispatches) => this.#take(dispatches, sink, signal),
      answered: () => {
        if (this.#hasBegun) sink.proof();
      },
    });
    const { error, forgets } = await gateway.read(signal);
    const { session: last, ...rest } = this.#position;
    if (forgets === "session") await this.#commit([], rest, sink);
    if (forgets === "url" && last?.url !== undefined)
      await this.#commit([], { ...rest, session: { id: last.id, seq: last.seq } }, sink);
    throw error;
  }

  /** The gap after a session that was lost; hourly, whatever else is newer in a channel than what is stored. */
  async backfill(sink: Sink, places: readonly KnownPlace[], signal: AbortSignal): Promise<void> {
    try {
      await this.#fill(sink, places, signal);
    } finally {
      this.#filled.resolve(); // a gap that cannot be filled now must not hold up everything else
    }
  }

  async #fill(sink: Sink, places: readonly KnownPlace[], signal: AbortSignal): Promise<void> {
    const { newest } = this.#position;
    const gap = this.#gap;
    if (gap === undefined && this.#isContinued) return void (this.#isContinued = false);
    const since = new Map(places.map(({ topic, place, messageId }) => [topic ?? place, gap ?? messageId]));
    for (const { id, last_message_id: last } of await this.#guildChannels(signal)) {
      const from = since.get(id) ?? gap ?? newest;
      if (from !== undefined && isNewer(last ?? "0", from)) since.set(id, from);
      else since.delete(id);
    }
    for (const [channel, after] of since) await this.#readAfter(after, { channel, sink, signal });
    if (gap === undefined || this.#gap !== gap) return;
    this.#gap = undefined;
    await sink.commit([], this.#cursorAt(this.#position));
  }

  async #take(dispatches: readonly Dispatch[], sink: Sink, signal: AbortSignal): Promise<void> {
    const [{ type: first, data: ready }] = dispatches as [Dispatch];
    if (first === "READY") await this.#begin(sessionOf(ready), sink);
    this.#hasBegun = true;
    sink.proof();
    if (this.#gap !== undefined) await this.#filled.promise;
    const events: Inbound[] = [];
    const interactions: Interaction[] = [];
    const { session } = this.#position;
    let { newest } = this.#position;
    if (session === undefined) return;
    for (const dispatch of dispatches) {
      const read = await this.#read(dispatch, session, signal);
      events.push(...read);
      if (dispatch.type === "INTERACTION_CREATE" && read.length > 0)
        interactions.push(dispatch.data as Interaction);
      for (const { kind, messageId } of read)
        if (kind === "message" && isNewer(messageId, newest ?? "0")) newest = messageId;
    }
    const next = present({ session: { ...session, seq: dispatches.at(-1)!.seq }, newest });
    const isLate = this.#ports.clock() - this.#storedAtMs > MINUTE_MS;
    // What has no events comes again, and is nothing then, either.
    if (events.length > 0 || isLate) await this.#commit(events, next, sink);
    else this.#position = next;
    for (const interaction of interactions) void this.#acknowledge(interaction, signal);
  }

  /** A new session: what came since the newest message of the last one may be missing. */
  async #begin(session: Session, sink: Sink): Promise<void> {
    const { newest } = this.#position;
    this.#isContinued = false;
    this.#gap ??= newest === undefined ? undefined : earlier(newest);
    await this.#commit([], { session, newest: newest ?? idAt(this.#ports.clock()) }, sink);
  }

  async #commit(events: readonly Inbound[], next: Position, sink: Sink): Promise<void> {
    await sink.commit(events, this.#cursorAt(next));
    this.#position = next;
    this.#storedAtMs = this.#ports.clock();
  }

  #cursorAt({ session, newest }: Position): Json {
    return present({ session: session && { ...session }, newest, gap: this.#gap });
  }

  /** A dispatch that cannot be read must not hold up what comes after it. */
  async #read(dispatch: Dispatch, session: Session, signal: AbortSignal): Promise<Inbound[]> {
    try {
      this.#places.note(dispatch);
      const events = await this.#reader!.read(dispatch, session.id, signal);
      if (events.every(({ messageId }) => /^\d+$/.test(messageId))) return events;
      throw new Error("an id is no number");
    } catch (error) {
      if (error instanceof CortexError || signal.aborted) throw error;
      this.#ports.log(`Left out a ${dispatch.type} of Discord's, which cannot be read: ${errorText(error)}`);
      return [];
    }
  }

  /** Within three seconds, or Discord shows that it failed. Nothing else depends on it. */
  async #acknowledge({ id, token, type }: Interaction, signal: AbortSignal): Promise<void> {
    const received = {
      type: 4,
      data: { content: "Received. The answer follows here.", flags: ONLY_FOR_THEM },
    };
    const reply = type === PRESSED ? { type: 6 } : received;
    await this.#ports.api(`POST /interactions/${id}/${token}/callback`, signal, reply).catch(() => {});
  }

  /** With threads, and the newest message of each. */
  async #guildChannels(signal: AbortSignal): Promise<Channel[]> {
    const { api } = this.#ports;
    const channels: Channel[] = [];
    for (const { id } of await api<readonly { readonly id: string }[]>("GET /users/@me/guilds", signal)) {
      channels.push(
        ...((await ifAllowed(api<readonly Channel[]>(`GET /guilds/${id}/channels`, signal))) ?? []),
      );
      const active = await ifAllowed(
        api<{ readonly threads: readonly Channel[] }>(`GET /guilds/${id}/threads/active`, signal),
      );
      channels.push(...(active?.threads ?? []));
    }
    return channels;
  }

  /** Page by page, the oldest first. */
  async #readAfter(
    since: string,
    {
      channel,
      sink,
      signal,
    }: { readonly channel: string; readonly sink: Sink; readonly signal: AbortSignal },
  ): Promise<void> {
    const oldest = idAt(this.#ports.clock() - MAX_GAP_MS);
    for (let after = isNewer(oldest, since) ? oldest : since; ;) {
      const path = `/channels/${channel}/messages?limit=${PAGE}&after=${after}`;
      const page = (await ifAllowed(this.#ports.api<Message[]>(`GET ${path}`, signal))) ?? [];
      const found = page.toSorted((a, b) => (isNewer(a.id, b.id) ? 1 : -1));
      const guild = (await this.#places.channel(channel, signal))?.guild_id;
      const events: Inbound[] = [];
      for (const each of found) {
        const data = { ...each, ...present({ guild_id: guild }) };
        events.push(
          ...(await this.#read({ type: "MESSAGE_CREATE", seq: 0, data }, { id: "", seq: 0 }, signal)),
        );
      }
      if (events.length > 0) await sink.commit(events);
      if (found.length < PAGE) return;
      after = found.at(-1)!.id;
    }
  }
}

/** Of a message that only its receiver sees. */
const ONLY_FOR_THEM = 1 << 6;

function sessionOf(data: unknown): Session {
  const { session_id: id, resume_gateway_url: url } = data as Record<
    "session_id" | "resume_gateway_url",
    string
  >;
  return { id, seq: 0, ...(/^wss?:/.test(url) && URL.canParse(url) ? { url: url.replace(/\/$/, "") } : {}) };
}

/** Discord resets the token of a bot that begins more sessions in a day than it may. */
async function findGateway(api: DiscordApi, signal: AbortSignal): Promise<string> {
  const { url, session_start_limit: limit } = await api<{
    readonly url: string;
    readonly session_start_limit: { readonly remaining: number; readonly reset_after: number };
  }>("GET /gateway/bot", signal);
  if (limit.remaining > 0) return url.replace(/\/$/, "");
  throw deliveryFailed("The bot has begun as many sessions as Discord allows in a day", {
    hint: "Cortex waits until Discord allows the next one. Find out what uses the same token.",
    retryAfterMs: limit.reset_after,
  });
}

function earlier(id: string): string {
  return String(BigInt(id) - (BigInt(DISORDER_MS) << 22n));
}

function isNewer(id: string, than: string): boolean {
  return BigInt(id) > BigInt(than);
}
