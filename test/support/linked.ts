/**
 * A channel behind a real link, with what it stores kept over restarts, and a clock that runs fast enough for its pauses.
 */
import { Link, type LinkStatus } from "../../src/channels/hub/link.ts";
import type {
  ChannelModule,
  ChannelPorts,
  Connection,
  Inbound,
  KnownPlace,
} from "../../src/channels/channel.ts";
import type { Json } from "../../src/model/json.ts";

/** What survives a process. */
export class Stored {
  readonly #events = new Map<string, Inbound>();
  cursor: Json | undefined;
  /** Called before a commit: what it throws keeps it from happening. */
  before: () => void | Promise<void> = () => {};

  get events(): Inbound[] {
    return [...this.#events.values()];
  }

  get texts(): (string | null)[] {
    return this.events.map(({ text }) => text);
  }

  add(event: Inbound): void {
    if (!this.#events.has(event.id) && !event.sender.self) this.#events.set(event.id, event);
  }

  places(): KnownPlace[] {
    const newest = new Map<string, KnownPlace>();
    for (const { place, messageId, atMs, kind } of this.events)
      if (kind === "message")
        newest.set(`${place.id}/${place.topic}`, {
          place: place.id,
          topic: place.topic,
          kind: place.kind,
          messageId,
          atMs,
        });
    return [...newest.values()];
  }
}

interface Linked extends AsyncDisposable {
  readonly link: Link;
  readonly states: LinkStatus[];
  readonly log: string[];
  readonly connection: Connection;
}

const SPEED = 50;
const LOOK_MS = 5;

export function openLinked<Settings>(
  module: ChannelModule<Settings>,
  {
    settings,
    ports,
    stored,
  }: { readonly settings: Settings; readonly ports: ChannelPorts; readonly stored: Stored },
): Linked {
  const states: LinkStatus[] = [];
  const log: string[] = [];
  const startMs = performance.now();
  let committing: Promise<void> = Promise.resolve();
  const link = new Link({
    module,
    open: () => module.open(settings, { ...ports, log: (line) => void log.push(line) }),
    readCursor: async () => stored.cursor,
    knownPlaces: async () => stored.places(),
    commit({ events, cursor, requireCurrent }) {
      const store = async (): Promise<void> => {
        await stored.before();
        requireCurrent();
        for (const event of events) stored.add(event);
        if (cursor !== undefined) stored.cursor = structuredClone(cursor);
      };
      const done = committing.then(store);
      committing = done.catch(() => {});
      return done;
    },
    clock: () => Math.round((performance.now() - startMs) * SPEED),
    random: () => 0,
    log: (line) => void log.push(line),
    onChange: (status) => void states.push(status),
  });
  const timer = setInterval(() => link.look(), LOOK_MS);
  return {
    link,
    states,
    log,
    get connection() {
      return link.connection!;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await link[Symbol.asyncDispose]();
    },
  };
}
