/** Where a name in the label of a session came from, the first time that it did. */
import type { EventId, TurnId } from "./ids.ts";
import type { SessionKey } from "./session-key.ts";

export interface LabelOrigin {
  readonly turn?: TurnId;
  /** The messages of which one brought it. */
  readonly events?: readonly EventId[];
  /** The tool whose call brought it, and the file that the call named. */
  readonly tool?: string;
  readonly path?: string;
  /** What the turn was given besides its messages. */
  readonly part?: "prompt" | "memory" | "situation" | "duty";
  /** A session that sent or reported something. */
  readonly session?: SessionKey;
}

const PARTS: Readonly<Record<NonNullable<LabelOrigin["part"]>, string>> = {
  prompt: "a file of the system prompt",
  memory: "memory",
  situation: "the status of the team",
  duty: "its task",
};

/** As a phrase: `Read of notes.md`. */
export function describeOrigin({ events, tool, path, part, session, turn }: LabelOrigin): string {
  if (tool !== undefined) return path === undefined ? tool : `${tool} of ${path}`;
  if (part !== undefined) return PARTS[part];
  if (events !== undefined) return events.length === 1 ? `event ${events[0]}` : `events ${events.join(", ")}`;
  if (session !== undefined) return `session ${session}`;
  return turn === undefined ? "unknown" : `the history up to turn ${turn}`;
}
