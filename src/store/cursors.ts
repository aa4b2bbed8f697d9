import type { Json } from "../model/json.ts";

/**
 * How far something has been read, in its own terms: the offset of a queue, the session of a gateway, a watched file as it was
 * when its last event was accepted, the last change that a job has processed.
 *
 * It is stored in the commit of the events that it covers (`events.accept`, `events.acceptAll`), and only then is anything
 * acknowledged. So what happened while nobody read is the difference between the cursor and the source.
 */
export interface CursorReads {
  /** Undefined: nothing was read yet. */
  get(source: string): Promise<Json | undefined>;

  /** Cursors whose source starts with `under`, by source; with `after`, those that follow that source. */
  list(options: CursorList): Promise<KnownCursor[]>;
}

export interface CursorStore extends CursorReads {
  /** Replaces the cursors of sources, in one commit. May be repeated. */
  set(...cursors: readonly SourceCursor[]): Promise<void>;
}

export interface SourceCursor {
  /** `channel:telegram@default`, `file:/path`, `job:search`. */
  readonly source: string;
  /** Undefined: the source is gone, and its cursor is forgotten. */
  readonly value: Json | undefined;
}

export interface KnownCursor extends SourceCursor {
  readonly value: Json;
}

export interface CursorList {
  readonly under: string;
  readonly after?: string;
  readonly limit?: number;
}
