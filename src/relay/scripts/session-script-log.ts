/**
 * What the store knows about session scripts. An event is recorded before a script starts, and another when it ends. The
 * first is one commit with the position in the change feed.
 */
import { SCRIPT_ADAPTER, splitEventId } from "../../model/event.ts";
import { eventId } from "../../model/event-id.ts";
import type { Ports } from "../../feature/ports.ts";
import type { TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { SessionMoment } from "../templates/session-scripts-file.ts";
import type { NewEvent, Store } from "../../store/store.ts";

/** The facts recorded about a run of a script. */
interface RunFacts {
  readonly moment: SessionMoment;
  readonly session: SessionKey;
  readonly turn: TurnId | null;
  readonly command: string;
}

export interface StartedRun {
  readonly id: string;
  readonly facts: RunFacts;
}

const SOURCE = "job:session-scripts";
/** How many of the latest events are searched for scripts interrupted by a crash. */
const RECENT = 200;
/** Part of the ids of scripts since the first version: with another format, a script could run again after an update. */
const SEQ_DIGITS = 16;
const END = ":end";

export class ScriptLog {
  readonly #store: Pick<Store, "events" | "cursors">;
  readonly #clock: () => number;

  constructor({ store, clock }: Pick<Ports, "store" | "clock">) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The last change that was processed completely. Undefined: none was. */
  async position(): Promise<number | undefined> {
    return (await this.#store.cursors.get(SOURCE)) as number | undefined;
  }

  /** Records that every change up to this one was processed. */
  async mark(position: number): Promise<void> {
    await this.#store.cursors.set({ source: SOURCE, value: position });
  }

  /**
   * Undefined: the script was started before. The position stays before its change, because one change can start several
   * scripts.
   */
  async begin(seq: number, facts: RunFacts): Promise<StartedRun | undefined> {
    const id = `${String(seq).padStart(SEQ_DIGITS, "0")}:${facts.turn ?? facts.session}`;
    const event = this.#eventOf(id, null, facts);
    const cursor = { source: SOURCE, value: seq - 1 };
    const { fresh } = await this.#store.events.accept(event, { cursor });
    return fresh ? { id, facts } : undefined;
  }

  /** The event that records the end of a script and its output. */
  endOf({ id, facts }: StartedRun, content: string | null): NewEvent {
    return this.#eventOf(`${id}${END}`, content, facts);
  }

  async end(started: StartedRun): Promise<void> {
    await this.#store.events.accept(this.endOf(started, null));
  }

  async fail({ id, facts }: StartedRun, line: string): Promise<void> {
    await this.#store.events.accept(this.#eventOf(`${id}${END}`, line, { ...facts, failed: true }));
  }

  /** Scripts that started and never ended. Only valid while none is running: at the start. */
  async cutOff(): Promise<StartedRun[]> {
    const { items } = await this.#store.events.list({ channel: SCRIPT_ADAPTER, limit: RECENT });
    const all = items.map(({ id, metadata }) => ({
      id: splitEventId(id).sourceId,
      facts: factsIn(metadata),
    }));
    const ids = new Set(all.map(({ id }) => id));
    return all.flatMap(({ id, facts }) =>
      facts === undefined || id.endsWith(END) || ids.has(`${id}${END}`) ? [] : [{ id, facts }],
    );
  }

  #eventOf(
    sourceId: string,
    content: string | null,
    metadata: RunFacts & { readonly failed?: true },
  ): NewEvent {
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

/** Undefined: the event records a position, as earlier versions did, not a script. */
function factsIn(metadata: unknown): RunFacts | undefined {
  const isScript = typeof metadata === "object" && metadata !== null && "moment" in metadata;
  return isScript ? (metadata as RunFacts) : undefined;
}
