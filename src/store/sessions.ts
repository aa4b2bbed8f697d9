import type { AgentId, PersonaId, RunId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { ListOptions, Listed } from "./list.ts";
import type { Wait } from "./runs.ts";

export interface SessionReads {
  /** The turn that a session points at: undefined before its first turn. Reading an unknown session is an error. */
  head(session: SessionKey): Promise<TurnId | undefined>;
  get(session: SessionKey): Promise<StoredSession | undefined>;
  /**
   * Most recently used first. One that is used between two pages moves ahead of both. With `open`, those that are closed
   * are left out.
   */
  list(options?: ListOptions & { readonly open?: boolean }): Promise<Listed<StoredSession>>;
  /** The sessions of its workers, oldest first. An unknown session has none. */
  children(session: SessionKey, options?: { limit?: number }): Promise<StoredSession[]>;
  /** The session that opened it, the one that opened that, and so on. */
  ancestors(session: SessionKey): Promise<StoredSession[]>;
}

export interface SessionStore extends SessionReads {
  /**
   * A new session that points at this turn: one row, at any depth. `session_exists` if the label is taken.
   *
   * Its settings are empty but for `trust`: what a thread has come into contact with, every session on it has. A
   * fork has the marks which the session of the turn had when the turn was committed, and those which that
   * session has now and every session that points at the turn. The same holds for the fork that a dispatch to a
   * turn makes.
   */
  fork(turn: TurnId, label: SessionKey): Promise<StoredSession>;

  /**
   * Starts afresh: the head becomes none. The old thread stays addressable by its turn.
   *
   * A run that is under way was to follow the old head. Its commit is refused with `head_moved`; failed
   * with a retry, its turn is tried again with the same journal and follows no turn. A run that waits is
   * continued after the new head without that.
   *
   * The marks of `trust` in its settings go with the old thread, whose turns keep them for whoever forks there.
   * They stay where a journal of the session can still be replayed: a run is under way, or there is a dead letter.
   */
  reset(session: SessionKey): Promise<void>;

  /**
   * Merges into the settings of a session; a null removes a field, objects merge field by field. One that does
   * not exist is `session_unknown`, or is created, with no head, where it is said who it belongs to.
   */
  configure(
    session: SessionKey,
    settings: Settings,
    options?: { create?: { readonly agent: AgentId; readonly persona: PersonaId } },
  ): Promise<void>;
}

export type Settings = { readonly [name: string]: Json };

/**
 * queued: something waits, be it a message or a run that is to be taken up again. streaming: a run is at
 * work. tool: at work, and a tool call of it has no result yet. suspended: its run waits for an answer.
 */
export type SessionState = "idle" | "queued" | "streaming" | "tool" | "compacting" | "suspended";

export interface StoredSession {
  readonly key: SessionKey;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  readonly head: TurnId | undefined;
  /** Of the turn at its head. Undefined: there is none. */
  readonly model: string | undefined;
  /** A limit ended the turn at its head. */
  readonly limitReached: boolean;
  /** Of the turns that were made in it, and of what was said in them. */
  readonly turnCount: number;
  readonly messageCount: number;
  readonly state: SessionState;
  /** It is a step's, of a relay that is over. */
  readonly isClosed: boolean;
  /** What it waits for, where it is suspended. */
  readonly wait: Wait["kind"] | undefined;
  /** Of the event that opened it. */
  readonly channel: string | undefined;
  /** The session whose agent opened this one; the turn in which it did, and the id of the tool call. */
  readonly parentSession: SessionKey | undefined;
  readonly parentTurn: TurnId | undefined;
  readonly parentCall: string | undefined;
  /** What it was given as a worker. Undefined: it is none. */
  readonly worker: Json | undefined;
  /** How many sessions it has opened. */
  readonly children: number;
  readonly settings: Settings;
  readonly queued: number;
  readonly run: RunId | undefined;
  readonly holder: string | undefined;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
}
