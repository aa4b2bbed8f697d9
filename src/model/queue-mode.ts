import { CortexError } from "./errors.ts";

/** What a message does when it meets a session that is busy. `docs/` describes each for users. */
export const QUEUE_MODES = ["steer", "steer-backlog", "followup", "queue", "collect", "interrupt"] as const;

export type QueueMode = (typeof QUEUE_MODES)[number];

export const DEFAULT_MODE_OF_PEOPLE: QueueMode = "steer-backlog";
export const DEFAULT_MODE_OF_AGENTS: QueueMode = "followup";

export function parseQueueMode(text: string): QueueMode {
  const word = text.trim().toLowerCase();
  const mode = word === "steer+backlog" ? "steer-backlog" : word; // the upstream spelling
  if ((QUEUE_MODES as readonly string[]).includes(mode)) return mode as QueueMode;
  throw new CortexError("queue_mode_unknown", `Unknown queue mode "${text}"`, {
    hint: `Queue modes: ${QUEUE_MODES.join(", ")}.`,
  });
}
