/**
 * What the ledger says of the scripts of sessions. Before a script is started, an event says so, whose id begins with the
 * number of the change that it is for; a second one says how it ended. Marks in between say how far the changes were
 * looked at.
 */
import { eventId, SCRIPT_ADAPTER, splitEventId } from "../../model/event.ts";
import type { TurnId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { SessionMoment } from "../templates/session-scripts-file.ts";
import type { NewEvent, Store } from "../../store/store.ts";

/** What is kept of a script beside what it said. */
export interface Told {
  readonly moment: SessionMoment;
  readonly session: SessionKey;
  readonly turn: TurnId | null;
  readonly command: string;
}

export interface Begun {
  readonly id: string;
  readonly told: Told;
}

/** How many of the last events are looked through for scripts that a crash has cut off. */
const RECENT = 200;
/** Of the number of a change, so that ids are in its order. */
const DIGITS = 16;
const END = ":end";
const MARK = ":watch";

export class ScriptLog {
  readonly #store: Pick<Store, "events">;
  readonly #clock: () => number;

  constructor({ store, clock }: { readonly store: Pick<Store, "events">; readonly clock: () => number }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The change after which to go on. Undefined: nobody has ever looked. */
  async position(): Promise<number | undefined> {
    const last = await this.#store.events.lastOf(SCRIPT_ADAPTER);
    if (last === undefined) return undefined;
    const { sourceId } = splitEventId(last.id);
    const at = Number(sourceId.slice(0, DIGITS));
    // A change that scripts were run for is looked at once more: several things can have happened with it.
    return sourceId.endsWith(MARK) ? at : at - 1;
  }

  /** Everything up to a change was looked at. */
  async mark(at: number): Promise<void> {
    await this.#record(`${print(at)}${MARK}`, null, {});
  }

  /** Undefined: it was begun before. */
  async begin(seq: number, told: Told): Promise<Begun | undefined> {
    const id = `${print(seq)}:${told.turn ?? told.session}`;
    return (await this.#record(id, null, told)) ? { id, told } : undefined;
  }

  /** The event that says that a script has ended, and what it wrote. */
  endOf({ id, told }: Begun, content: string | null): NewEvent {
    return this.#eventOf(`${id}${END}`, content, told);
  }

  async end(begun: Begun): Promise<void> {
    await this.#store.events.accept(this.endOf(begun, null));
  }

  async fail({ id, told }: Begun, line: string): Promise<void> {
    await this.#record(`${id}${END}`, line, { ...told, failed: true });
  }

  /** Those that have begun and never ended. Only where none runs: at the start. */
  async cutOff(): Promise<Begun[]> {
    const { items } = await this.#store.events.list({ channel: SCRIPT_ADAPTER, limit: RECENT });
    const all = items.map(({ id, metadata }) => ({ id: splitEventId(id).sourceId, told: metadata }));
    const ids = new Set(all.map(({ id }) => id));
    return all
      .filter(({ id }) => !id.endsWith(END) && !id.endsWith(MARK) && !ids.has(`${id}${END}`))
      .map(({ id, told }) => ({ id, told: told as unknown as Told }));
  }

  async #record(sourceId: string, content: string | null, metadata: object): Promise<boolean> {
    return (await this.#store.events.accept(this.#eventOf(sourceId, content, metadata))).fresh;
  }

  #eventOf(sourceId: string, content: string | null, metadata: object): NewEvent {
    return {
      id: eventId(SCRIPT_ADAPTER, { kind: "id", sourceId }),
      channel: SCRIPT_ADAPTER,
      direction: "sent",
      content,
      metadata: metadata as Json,
      atMs: this.#clock(),
    };
  }
}

function print(seq: number): string {
  return String(seq).padStart(DIGITS, "0");
}
