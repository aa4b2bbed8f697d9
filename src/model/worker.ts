import type { Json } from "./json.ts";

/**
 * What a worker is given when its session is opened, the session of a relay with every step, and that of a member of a
 * team with every task. It is kept with the
 * session, and counts for all its turns.
 */
export interface Worker {
  /** The type of sub-agent that it is. */
  readonly type?: string;
  /** What it may do at most: a narrowing, as dispatches have them. */
  readonly permissions: Json;
  /** How often one turn may call the model. */
  readonly maxTurns?: number;
  /** Replaces the system prompt of its agent. */
  readonly systemPrompt?: string;
  readonly profile?: string;
  /** What one turn may cost at most, in USD. */
  readonly costUsd?: number;
  /** Where its tools work. It may be an agent that the configuration does not know. */
  readonly workspace?: string;
  /** Folders that it may use beside. */
  readonly roots?: readonly string[];
  /** Folders that stay closed to it and to its own workers, also where the folder around them is open. */
  readonly hidden?: readonly string[];
  /** Tools that only sessions have which are given them, whatever else its persona may do. */
  readonly tools?: readonly string[];
  /** It talks to people, and is told so. Unless said, it works on what it was given. */
  readonly role?: "manager";
  /** What it is told of its job, in its system prompt. */
  readonly duty?: string;
  /** It looks after a team, and is told how that stands when a conversation begins. */
  readonly coordinates?: true;
  /** Its plugins, instead of those of its agent. Absolute. */
  readonly pluginDirs?: readonly string[];
  /** Where people are told of what it asks them: an address, as dispatches have them. Its answers do not go there. */
  readonly asks?: Json;
  /** Its turns are run by a child process; by this program, where there is a command. */
  readonly process?: { readonly command?: readonly string[] };
}

/** As it was stored with the session. Undefined: the session is no worker's. */
export function readWorker(stored: Json | undefined): Worker | undefined {
  return stored === undefined || stored === null ? undefined : (stored as unknown as Worker);
}
