/**
 * What the store knows about session scripts. An event is recorded before a script starts, and another when it ends. The
 * first is one commit with the position in the change feed.
 */
import { eventId, SCRIPT_ADAPTER, splitEventId } from "../../model/event.ts";
import type { TurnId } from "../../model/ids.ts";
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

const JOB = "session-scripts";
/** How many of the latest events are searched for scripts that a crash interrupted. */
const RECENT = 200;
/** Part of the ids of scripts since the first version: with another format, a script could run again after an update. */
const SEQ_DIGITS = 16;
const END = ":end";

export class ScriptLog {
  readonly #store: Pick<Store, "events" | "progress">;
  readonly #clock: () => number;

  constructor({
    store,
    clock,
  }: {
    readonly store: Pick<Store, "events" | "progress">;
    readonly clock: () => number;
  }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The last change that was processed completely. Undefined: none was. */
  position(): Promise<number | undefined> {
    return this.#store.progress.get(JOB);
  }

  /** Records that every change up to this one was processed. */
  async mark(position: number): Promise<void> {
    await this.#store.progress.set({ job: JOB, position });
  }

  /**
   * Undefined: the script was started before. The position stays before its change, because one change can start several
   * scripts.
   */
  async begin(seq: number, told: Told): Promise<Begun | undefined> {
    const id = `${String(seq).padStart(SEQ_DIGITS, "0")}:${told.turn ?? told.session}`;
    const event = this.#eventOf(id, null, told);
    const progress = { job: JOB, position: seq - 1 };
    const { fresh } = await this.#store.events.accept(event, { progress });
    return fresh ? { id, told } : undefined;
  }

  /** The event that says that a script has ended, and what it wrote. */
  endOf({ id, told }: Begun, content: string | null): NewEvent {
    return this.#eventOf(`${id}${END}`, content, told);
  }

  async end(begun: Begun): Promise<void> {
    await this.#store.events.accept(this.endOf(begun, null));
  }

  async fail({ id, told }: Begun, line: string): Promise<void> {
    await this.#store.events.accept(this.#eventOf(`${id}${END}`, line, { ...told, failed: true }));
  }

  /** Those that have begun and never ended. Only where none runs: at the start. */
  async cutOff(): Promise<Begun[]> {
    const { items } = await this.#store.events.list({ channel: SCRIPT_ADAPTER, limit: RECENT });
    const all = items.map(({ id, metadata }) => ({ id: splitEventId(id).sourceId, told: toTold(metadata) }));
    const ids = new Set(all.map(({ id }) => id));
    return all.flatMap(({ id, told }) =>
      told === undefined || id.endsWith(END) || ids.has(`${id}${END}`) ? [] : [{ id, told }],
    );
  }

  #eventOf(sourceId: string, content: string | null, metadata: Told & { readonly failed?: true }): NewEvent {
    return {
      id: eventId(SCRIPT_ADAPTER, { kind: "id", sourceId }),
      channel: SCRIPT_ADAPTER,
      direction: "sent",
      content,
      metadata: { ...metadata },
      atMs: this.#clock(),
    };
  }
}

/** Earlier versions also recorded their position as events, without saying anything about a script. */
function toTold(metadata: unknown): Told | undefined {
  const isTold = typeof metadata === "object" && metadata !== null && "moment" in metadata;
  return isTold ? (metadata as Told) : undefined;
}
