/** A running Cortex, as routes, tools and programs that embed it see it. */
import type { Config } from "../config/config.ts";
import type { ModelChoice } from "../config/choose-model.ts";
import type { UnsetVariable } from "../config/unset-variables.ts";
import type { Incoming } from "../events/incoming.ts";
import type { AcceptedEvent } from "../intake/accept-event.ts";
import type { NewMessage, Sent } from "../intake/messages.ts";
import type { Said } from "../intake/say.ts";
import type { ItemId, RunId, TurnId } from "../model/ids.ts";
import type { Spans } from "../model/spans.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Store, StoredSession } from "../store/store.ts";
import type { CoolDown } from "../turns/choose-profile.ts";
import type { SandboxMode } from "../turns/sandbox.ts";
import type { Live } from "./live.ts";
import type { Outcome } from "./outcomes.ts";

/**
 * What features offer to each other, to their own routes and to programs that embed Cortex. Each feature declares its
 * own name here, by merging into this interface.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- features fill it
export interface Apis {}

export interface Cortex extends Apis, AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  readonly live: Live;
  /** Where the time of messages goes. */
  readonly spans: Spans;
  /** As it is now: it may be another one after a change of the files. */
  config(): Config;
  /** The model that answers by default, and why it was chosen. */
  model(): ModelChoice;
  /** Profiles that are paused because their models failed. */
  coolDowns(): readonly CoolDown[];
  /** Variables that settings name and that are not set. */
  unsetVariables(): readonly UnsetVariable[];
  /** How commands of agents run. */
  sandbox(): SandboxMode;
  /** How many unfinished turns the previous process left. */
  readonly resumed: number;

  /** Sends a message as it is, even if it looks like a command. */
  send(message: NewMessage): Promise<Sent>;
  /** Takes what a person wrote: runs commands to Cortex, sends everything else. */
  say(message: NewMessage): Promise<Said>;
  /** Waits until a message has ended. Undefined: the signal came first. */
  outcome(item: ItemId, signal: AbortSignal): Promise<Outcome | undefined>;
  /** Takes an event in from an adapter that is not Cortex's own. Throws `event_invalid`. */
  accept(incoming: Incoming): Promise<AcceptedEvent>;
  // Wherever a session is named, the forms of `send` are accepted: `main`, a label or a whole key.
  /** Creates a session that points at this turn. */
  fork(turn: TurnId, label?: string): Promise<StoredSession>;
  /** The sessions of the workers that a session's agent opened, oldest first. Throws `session_unknown`. */
  getChildSessions(session: string): Promise<StoredSession[]>;
  /** The session whose agent opened this one. Undefined: no agent did. Throws `session_unknown`. */
  getParentSession(session: string): Promise<StoredSession | undefined>;
  /** How many workers a session's agent opened. Throws `session_unknown`. */
  countChildSessions(session: string): Promise<number>;
  /** Ends the run of a session and everything its agent gave to workers; the output so far stays. False: nothing runs. */
  abort(session: string): Promise<boolean>;
  /** Answers what a suspended run waits for. False: it no longer waits. */
  answer(run: RunId, result: ToolResult, ordinal?: number): Promise<boolean>;
  /** Takes no new work, lets runs reach a safe point, and closes the store. */
  stop(): Promise<void>;
}
