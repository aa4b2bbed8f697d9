/**
 * Shows that an agent is typing, for as long as a run is at work on a message of a place. It has no state that could stick:
 * each round reads which runs there are, and platforms forget a typing indicator by themselves.
 */
import type { EventId } from "../../model/ids.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { present } from "../../model/present.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { Store } from "../../store/store.ts";
import type { Address } from "../channel.ts";

interface TypingPorts {
  readonly store: Pick<Store, "runs" | "events" | "onWake">;
  /** How to show it in a place, and for how long it is shown. Undefined: the channel does not. */
  readonly typist: (to: Address) => Typist | undefined;
}

interface Typist {
  readonly lastsMs: number;
  show(): Promise<void>;
}

/** Runs that are looked at. A person sees one or two. */
const MAX_RUNS = 50;
/** Repeated before it fades. */
const REPEAT_AFTER = 0.8;

export function openTyping({ store, typist }: TypingPorts): WakeLoop {
  /** Where the message of a run came from, while it runs. */
  let places = new Map<EventId, Address | undefined>();
  return new WakeLoop({
    async round() {
      const active = await store.runs.active({ limit: MAX_RUNS });
      const events = active.flatMap(({ state, sourceEvent }) =>
        state === "running" ? (sourceEvent ?? []) : [],
      );
      const known = places;
      places = new Map();
      for (const event of events)
        places.set(event, known.has(event) ? known.get(event) : await placeOf(event, store));
      const typists = [...places.values()].flatMap((place) =>
        place === undefined ? [] : (typist(place) ?? []),
      );
      // One that fails is no harm: the answer comes all the same.
      await Promise.all(typists.map((each) => each.show().catch(() => {})));
      if (typists.length === 0) return undefined;
      return Math.min(...typists.map(({ lastsMs }) => lastsMs)) * REPEAT_AFTER;
    },
    listen: (wake) => store.onWake("runs", wake),
    pollMs: MINUTE_MS,
    gatherMs: GATHER_MS,
  });
}

/** Most answers of a fast model are there before anybody would see it. */
const GATHER_MS = 500;

async function placeOf(id: EventId, { events }: Pick<Store, "events">): Promise<Address | undefined> {
  const event = await events.get(id);
  if (event?.place === undefined || event.direction !== "received") return undefined;
  const { channel, account, place, topic } = event;
  return { channel, place, ...present({ account, topic }) };
}
