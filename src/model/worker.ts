import type { Json } from "./json.ts";

/**
 * Settings of a session that another one opened: of a worker when it is opened, of a relay's session with every step, of
 * a team member's session with every task. They are stored with the session and apply to all its turns.
 */
export interface Worker {
  /** The sub-agent type. */
  readonly type?: string;
  /** The upper bound of its permissions: a narrowing, as in dispatches. */
  readonly permissions: Json;
  /** The maximum number of model calls in one turn. */
  readonly maxTurns?: number;
  /** Replaces the system prompt of its agent. */
  readonly systemPrompt?: string;
  readonly profile?: string;
  /** The maximum cost of one turn in USD. */
  readonly costUsd?: number;
  /** The workspace of its tools. The agent need not be configured then. */
  readonly workspace?: string;
  /** Further folders that it may use. */
  readonly roots?: readonly string[];
  /** Folders that stay closed to it and its workers, even inside open ones. */
  readonly hidden?: readonly string[];
  /** Reserved tools that it has in addition to those of its persona. */
  readonly tools?: readonly string[];
  /** manager: it talks to people. Default: worker. */
  readonly role?: "manager";
  /** The description of its job in the system prompt. */
  readonly duty?: string;
  /** Of that description: as stored, see `labelJson`. */
  readonly dutyLabel?: Json;
  /** Whether it coordinates a team, and sees the team's status when a conversation begins. */
  readonly coordinates?: true;
  /** Its plugins, instead of those of its agent. Absolute. */
  readonly pluginDirs?: readonly string[];
  /** Where its questions and approvals are shown: an address, as in dispatches. Its answers do not go there. */
  readonly asks?: Json;
  /** Its turns run in a child process: this command, or Cortex itself. */
  readonly process?: { readonly command?: readonly string[] };
}

/** As stored with the session. Undefined: not a worker. */
export function readWorker(stored: Json | undefined): Worker | undefined {
  return stored === undefined || stored === null ? undefined : (stored as unknown as Worker);
}
