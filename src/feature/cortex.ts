/** A running Cortex, for routes, tools and embedding programs. */
import type { Config } from "../config/config.ts";
import type { ModelChoice } from "../config/choose-model.ts";
import type { UnsetVariable } from "../config/describe-unset.ts";
import type { Incoming } from "../events/incoming.ts";
import type { AcceptedEvent } from "../intake/accept-event.ts";
import type { NewMessage, Sent } from "../intake/messages.ts";
import type { Said } from "../intake/say.ts";
import type { ItemId, RunId, TurnId } from "../model/ids.ts";
import type { Caller } from "../model/scopes.ts";
import type { Spans } from "../model/spans.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Store, StoredSession } from "../store/store.ts";
import type { CoolDown } from "../turns/choose-profile.ts";
import type { QuotaUse } from "../turns/quotas.ts";
import type { SandboxMode } from "../turns/sandbox.ts";
import type { Live } from "./live.ts";
import type { Outcome } from "./outcomes.ts";

/**
 * The APIs that features offer to each other, to their routes and to embedding programs. Each feature declares its
 * name by merging into this interface.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- features fill it
export interface Apis {}

export interface Cortex extends Apis, AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  readonly live: Live;
  /** The timing of messages. */
  readonly spans: Spans;
  /** The current configuration: a different object after the files changed. */
  config(): Config;
  /** The default model, and why it was chosen. */
  model(): ModelChoice;
  /** Profiles that are paused after failures of their models. */
  coolDowns(): readonly CoolDown[];
  /** Settings that name an unset variable. */
  unsetVariables(): readonly UnsetVariable[];
  /** The sandbox of agents' commands. */
  sandbox(): SandboxMode;
  /** The disk space that the home and the agents' workspaces take. */
  quotas(): Promise<readonly QuotaUse[]>;
  /** The number of unfinished turns that the previous process left. */
  readonly resumed: number;

  /** Sends a message verbatim, even if it looks like a command. */
  send(message: NewMessage): Promise<Sent>;
  /** Handles what a person wrote: runs Cortex commands, sends everything else. */
  say(message: NewMessage): Promise<Said>;
  /** Waits for the outcome of a message. Undefined: the signal aborted first. */
  outcome(item: ItemId, signal: AbortSignal): Promise<Outcome | undefined>;
  /**
   * Accepts an event of an adapter that is not Cortex's own, or that the caller's token names. Throws `event_invalid`,
   * and `scope_missing` for any other adapter or channel than a token names.
   */
  accept(incoming: Incoming, caller?: Caller): Promise<AcceptedEvent>;
  // Sessions can be named as in `send`: `main`, a label or a whole key.
  /** Creates a session that points at this turn. */
  fork(turn: TurnId, label?: string): Promise<StoredSession>;
  /** The sessions of the workers that a session's agent opened, oldest first. Throws `session_unknown`. */
  getChildSessions(session: string): Promise<StoredSession[]>;
  /** The session whose agent opened this one. Undefined: no agent did. Throws `session_unknown`. */
  getParentSession(session: string): Promise<StoredSession | undefined>;
  /** How many workers a session's agent opened. Throws `session_unknown`. */
  countChildSessions(session: string): Promise<number>;
  /** Ends the run of a session and the work of its workers; the output so far stays. False: nothing is running. */
  abort(session: string): Promise<boolean>;
  /** Answers the request of a suspended run. False: it no longer waits. */
  answer(run: RunId, result: ToolResult, ordinal?: number): Promise<boolean>;
  /** Takes no new work, lets runs reach a safe point, and closes the store. */
  stop(): Promise<void>;
}
