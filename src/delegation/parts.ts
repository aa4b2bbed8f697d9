/** What delegating needs of the rest of Cortex. */
import type { Config } from "../config/config.ts";
import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Mark } from "../model/trust.ts";
import type {
  Accepted,
  DispatchTarget,
  NewDelivery,
  NewDispatch,
  NewEvent,
  QueueItem,
  Store,
} from "../store/store.ts";

export interface DelegationParts {
  readonly store: Store;
  readonly config: () => Config;
  readonly clock: () => number;
  readonly mintId: () => string;
  /** Told of an event whose chain is as long as it may be, and who wanted to add to it. */
  readonly onChainEnded: (event: EventId, by: string) => Promise<void>;
  /** Refuses a profile that does not exist. */
  readonly checkProfile: (name: string) => void;
  /** How a message of an agent meets a session that is busy. */
  readonly queueing: (
    mode: QueueMode | undefined,
    target: DispatchTarget,
  ) => Promise<Pick<NewDispatch, "mode" | "dueMs" | "cap" | "drains">>;
  /** Takes an event in, and begins its turn where there is room for it. */
  readonly accept: (event: NewEvent, dispatch?: NewDispatch) => Promise<Accepted>;
  /** Notes what a session comes into contact with. */
  readonly mark: (session: SessionKey, marks: readonly Mark[]) => Promise<void>;
  /** What stands between the persona and a turn that answers these. */
  readonly narrowedBy: (items: readonly QueueItem[]) => Json[];
  /** Whether somebody else than the owner has written any of them. */
  readonly isByOthers: (items: readonly QueueItem[]) => boolean;
  /** The delivery that a text becomes for whoever wrote a message. Undefined: it has no address. */
  readonly deliveryOf: (item: QueueItem, text: string, id: string) => NewDelivery | undefined;
}
