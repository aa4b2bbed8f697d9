import type { Agent, Delta } from "../agents/agent.ts";
import type { Settings } from "../config/settings.ts";
import type { Direction } from "../model/event.ts";
import type { ItemId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Profile } from "../model/profile.ts";
import type { Redact } from "../model/redact.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Spans } from "../model/spans.ts";
import type { ToolHooks } from "../model/tool-hook.ts";
import type { Tool, ToolResult } from "../model/tool.ts";
import type { Worker } from "../model/worker.ts";
import type { Setup } from "../personas/lookup.ts";
import type { Skill } from "../personas/skills.ts";
import type { Claim, NewDelivery, QueueItem, Store } from "../store/store.ts";
import type { CoolDowns } from "./cool-downs.ts";
import type { SandboxWatch } from "./sandbox.ts";

/** What turns need of a running Cortex. */
export interface TurnPorts {
  readonly store: Store;
  readonly settings: Pick<Settings, "config" | "profile">;
  readonly clock: () => number;
  readonly mintId: () => string;
  readonly random: () => number;
  readonly redact: Redact;
  readonly spans: Spans;
  readonly coolDowns: CoolDowns;
  readonly sandbox: SandboxWatch;
  readonly agents: Agents;
  readonly features: TurnFeatures;
  /** Passes on what an agent says while it says it. */
  readonly live: { tell(claim: Claim, delta: Delta): void };
  /** Told after the commit that settled these messages. */
  readonly outcomes: { look(items: readonly ItemId[]): void };
  readonly tools: () => Promise<readonly Tool[]>;
  readonly toolHooks: (setup: Setup) => ToolHooks;
  readonly toolEnvironment: (permissions: Permissions) => Readonly<Record<string, string>>;
  /** The skills of an agent, as they are now. */
  readonly skills: (setup: Setup) => Promise<readonly Skill[]>;
  /** The folders of an agent, which are made where they do not exist. */
  readonly folders: (setup: Setup) => Promise<Folders>;
  /** Of the model of a profile, in tokens. Undefined: nobody knows. Never rejects. */
  readonly window: (profile: Profile) => Promise<number | undefined>;
  /** The messages of a turn that begins, in order: the one that it was claimed for, and those that join it. */
  readonly gatherTurn: (
    first: QueueItem,
    waiting: { readonly readPending: () => Promise<readonly QueueItem[]>; readonly nowMs: number },
  ) => Promise<readonly QueueItem[]>;
  /** The waiting messages that go into a turn which is under way. */
  readonly selectSteering: (
    pending: readonly QueueItem[],
    running: { readonly items: readonly QueueItem[]; readonly nowMs: number },
  ) => readonly QueueItem[];
  /**
   * The deliveries that a text for the sender of a message becomes, or that goes to another address; none where nobody
   * waits for one.
   */
  readonly deliveriesFor: (item: QueueItem, text: string, to?: Json) => readonly NewDelivery[];
  /** How long an agent has to end once it was told to. */
  readonly graceMs?: number;
}

interface Agents {
  /** The backend of a profile; for a worker with a process of its own, that process. */
  agentFor(profile: Profile, work: WorkerWork): Promise<Agent>;
}

/** What says by whom the turns of a worker are run. */
export interface WorkerWork {
  /** What its session was given as a worker's. Undefined: it is none. */
  readonly worker: Worker | undefined;
  readonly parentSession: SessionKey | undefined;
  readonly folders: Folders;
}

export interface Folders {
  readonly workspace: string;
  readonly roots: readonly string[];
  readonly outputFolder: string;
  /** What stays closed to agents, also inside of these. */
  readonly hidden: readonly string[];
}

/** What features add to turns. */
interface TurnFeatures {
  /** How the team stands that an agent coordinates. Undefined: there is none. */
  situation(): Promise<string | undefined>;
  /** What came of the work that a call waits for. Undefined: it goes on. */
  readWait(detail: Json): Promise<ToolResult | undefined>;
  /** Whether some feature judges events of this direction, on this channel or on any. */
  wants(direction: Direction, channel?: string): boolean;
}
