import type { Settings } from "../config/settings.ts";
import type { Direction } from "../model/event.ts";
import type { Spans } from "../model/spans.ts";
import type { Broker } from "../queue/broker.ts";
import type { Store } from "../store/store.ts";
import type { ButtonHandler } from "./buttons.ts";
import type { ChatCommands } from "./chat-commands.ts";

/** What taking messages and events in needs of a running Cortex. */
export interface Intake {
  readonly home: string;
  readonly store: Store;
  readonly settings: Pick<Settings, "config" | "profile">;
  /** Lets a commit that queues a message claim a free slot. */
  readonly slots: Pick<Broker, "withSlot">;
  readonly clock: () => number;
  readonly mintId: () => string;
  /** Measures where the time of messages goes. */
  readonly spans: Spans;
  /** Writes a line for whoever runs this Cortex. */
  readonly log: (line: string) => void;
  /** The chat commands of features. */
  readonly chats: () => readonly ChatCommands[];
  /** Who handles which buttons below messages of features. */
  readonly buttons: () => readonly ButtonHandler[];
  /** Whether some feature wants to judge events of this direction, on this channel or on any. */
  readonly isJudged: (direction: Direction, channel?: string) => boolean;
}
