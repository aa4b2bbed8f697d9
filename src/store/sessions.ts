import type { AgentId, EventId, PersonaId, RunId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { LabelOrigin } from "../model/label-origin.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Actor } from "./audit.ts";
import type { DeliveryTarget } from "./deliveries.ts";
import type { ListOptions, Listed } from "./list.ts";
import type { Wait } from "./runs.ts";

export interface SessionReads {
  /** The turn a session points at. Undefined before its first turn. `session_unknown`. */
  head(session: SessionKey): Promise<TurnId | undefined>;
  get(session: SessionKey): Promise<StoredSession | undefined>;
  /**
   * Most recently used first. A session used between two pages moves ahead of both. With `open`, excludes closed
   * sessions.
   */
  list(options?: ListOptions & { readonly open?: boolean }): Promise<Listed<StoredSession>>;
  /** The sessions of its workers, oldest first. Empty if the session is unknown. */
  children(session: SessionKey, options?: { limit?: number }): Promise<StoredSession[]>;
  /**
   * Where the talk of a place went that is in the session `from` by the configuration: by the newest move, or the newest
   * before an event. Undefined: nowhere else.
   */
  movedTo(place: DeliveryTarget, from: SessionKey, before?: EventId): Promise<SessionKey | undefined>;
  /** The session that opened it, the one that opened that, and so on. */
  ancestors(session: SessionKey): Promise<StoredSession[]>;

  /**
   * Where each name in the label of a session came from, in the order in which they came. Names from before this was
   * recorded are missing.
   */
  labelOrigins(session: SessionKey): Promise<KeptOrigin[]>;
}

export interface KeptOrigin {
  readonly kind: "untrusted" | "private" | "denied" | "outward";
  /** Empty for `outward`. */
  readonly name: string;
  readonly origin: LabelOrigin;
  readonly atMs: number;
}

export interface SessionStore extends SessionReads {
  /**
   * Creates a session that points at this turn: one row, at any depth. `session_exists` if the label is taken.
   *
   * Its settings are empty except for `trust`, which covers everything the thread was exposed to: the marks of the
   * turn's session when the turn was committed, and the current marks of that session and of every session that
   * points at the turn. The same applies to the fork made by a dispatch to a turn.
   */
  fork(turn: TurnId, label: SessionKey): Promise<StoredSession>;

  /**
   * Starts over: clears the head. The old thread stays addressable by its turn.
   *
   * An active run would have followed the old head. Its commit is refused with `head_moved`; when it fails with a
   * retry, its turn is retried with the same journal and follows no turn. A suspended run continues after the new
   * head without that.
   *
   * Clears the `trust` marks in the settings; the turns of the old thread keep them for forks. The marks stay while a
   * journal of the session can be replayed: a run is active, or there is a dead letter.
   */
  reset(session: SessionKey): Promise<void>;

  /**
   * Merges into the settings of a session: null removes a field, objects merge field by field. An unknown session is
   * `session_unknown`, or is created with no head if `create` is given. Clearing a trust mark is audited as a decision
   * of `by`. Where a name that is added to the label came from is kept from the first of `origins` that has it.
   */
  configure(
    session: SessionKey,
    settings: Settings,
    options?: {
      create?: { readonly agent: AgentId; readonly persona: PersonaId };
      by?: Actor;
      origins?: readonly Pick<KeptOrigin, "kind" | "name" | "origin">[];
    },
  ): Promise<void>;
}

export type Settings = { readonly [name: string]: Json };

/**
 * queued: a message or a run is waiting to be leased. streaming: a run is active. tool: active, with a tool call that
 * has no result yet. suspended: its run waits for an answer.
 */
export type SessionState = "idle" | "queued" | "streaming" | "tool" | "compacting" | "suspended";

export interface StoredSession {
  readonly key: SessionKey;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  readonly head: TurnId | undefined;
  /** The model of the turn at its head. Undefined: there is none. */
  readonly model: string | undefined;
  /** Whether a limit ended the turn at its head. */
  readonly limitReached: boolean;
  /** Turns created in it, and the messages of those turns. */
  readonly turnCount: number;
  readonly messageCount: number;
  readonly state: SessionState;
  /** It belongs to a step of a finished relay. */
  readonly isClosed: boolean;
  /** What it waits for, if it is suspended. */
  readonly wait: Wait["kind"] | undefined;
  /** The channel of the event that opened it. */
  readonly channel: string | undefined;
  /** The session whose agent opened this one, with the turn and the id of the tool call. */
  readonly parentSession: SessionKey | undefined;
  readonly parentTurn: TurnId | undefined;
  readonly parentCall: string | undefined;
  /** What it was given as a worker. Undefined: it is not one. */
  readonly worker: Json | undefined;
  /** Number of sessions it has opened. */
  readonly children: number;
  readonly settings: Settings;
  readonly queued: number;
  readonly run: RunId | undefined;
  readonly holder: string | undefined;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
}
