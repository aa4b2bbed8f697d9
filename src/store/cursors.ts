import type { Json } from "../model/json.ts";

/**
 * How far a source of events has been read, in the source's own terms: the offset of a queue, the session of a gateway. It
 * is stored in the commit of the events that it covers (`events.acceptAll`), and only then is anything acknowledged.
 */
export interface CursorReads {
  /** Undefined: nothing was read yet. */
  get(source: string): Promise<Json | undefined>;
}

export interface CursorStore extends CursorReads {
  /** Replaces the cursor of a source. May be repeated. */
  set(cursor: SourceCursor): Promise<void>;
}

export interface SourceCursor {
  readonly source: string;
  readonly value: Json;
}
