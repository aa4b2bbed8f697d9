/** What turns need of a running Cortex. Each port is the object or function that owns the knowledge, passed whole. */
import type { Agent, Delta } from "../agents/agent.ts";
import type { Settings } from "../config/settings.ts";
import type { Direction } from "../model/event.ts";
import type { ItemId, TurnId } from "../model/ids.ts";
import type { OutgoingFile } from "../model/extras.ts";
import type { Json } from "../model/json.ts";
import type { Profile } from "../model/profile.ts";
import type { Redact } from "../model/redact.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Spans } from "../model/spans.ts";
import type { Tool, ToolResult } from "../model/tool.ts";
import type { Label } from "../model/trust.ts";
import type { Worker } from "../model/worker.ts";
import type { AgentFolder } from "../personas/plugin-pins.ts";
import type { Variables } from "../programs/environment.ts";
import type { Claim, NewDelivery, QueueItem, Store } from "../store/store.ts";
import type { Boundaries } from "./bounds.ts";
import type { CoolDowns } from "./choose-profile.ts";
import type { CodeMode } from "./gate.ts";
import type { SandboxWatch } from "./sandbox.ts";

export interface TurnPorts {
  readonly home: string;
  /** Of this process. */
  readonly environment: Variables;
  readonly store: Store;
  readonly settings: Pick<Settings, "config" | "profile" | "variable">;
  readonly clock: () => number;
  readonly mintId: () => string;
  readonly random: () => number;
  readonly redact: Redact;
  readonly spans: Spans;
  readonly log: (line: string) => void;
  readonly coolDowns: CoolDowns;
  readonly sandbox: SandboxWatch;
  readonly bounds: Pick<Boundaries, "of">;
  /** The agent that runs turns on a profile, in this process. */
  readonly agentFor: (profile: Profile) => Promise<Agent>;
  readonly features: TurnFeatures;
  /** Folders in which agents work, beside their workspaces and roots. */
  readonly agentFolders: () => Promise<readonly AgentFolder[]>;
  /** Streams what an agent writes while it writes. */
  readonly live: { tell(claim: Claim, delta: Delta): void; finished(claim: Claim): void };
  /** Called after the commit that settled these messages. */
  readonly outcomes: { look(items: readonly ItemId[]): void };
  /** All tools, in the order in which models see them. */
  readonly tools: () => Promise<readonly Tool[]>;
  /** The context window of a profile's model, in tokens. Undefined: unknown. Never rejects. */
  readonly windowOf: (profile: Profile) => Promise<number | undefined>;
  /** The deliveries of a text to where an event came from, or to another address. None if no address can be reached. */
  readonly deliveriesOf: (answer: {
    readonly text: string;
    readonly source: QueueItem["event"];
    readonly delivery?: Json | undefined;
    readonly mintId: () => string;
    readonly files?: readonly OutgoingFile[];
  }) => NewDelivery[];
  /** How long an agent has to end after it was told to. */
  readonly graceMs?: number;
}

/** What decides who runs the turns of a worker. */
export interface WorkerWork {
  /** What its session was given as a worker's. Undefined: it is not a worker. */
  readonly worker: Worker | undefined;
  readonly parentSession: SessionKey | undefined;
  readonly folders: TurnFolders;
  readonly session: SessionKey;
  readonly turn: TurnId;
  /** What becomes of programs in this turn. */
  readonly codeMode: CodeMode;
}

export interface TurnFolders {
  readonly workspace: string;
  readonly roots: readonly string[];
  readonly outputFolder: string;
  /** Closed to agents, even inside the other folders. */
  readonly hidden: readonly string[];
  /** Closed to agents, even if they are one of the other folders. */
  readonly reserved: readonly string[];
}

/** What the agent that coordinates a team is told when a conversation begins, and whose words that quotes. */
export interface Situation {
  readonly text: string;
  readonly label: Label;
}

/** What features add to turns. */
interface TurnFeatures {
  /** The agent that runs the turns of a worker. Undefined: the backend of the profile does. */
  agentFor(profile: Profile, work: WorkerWork): Promise<Agent> | undefined;
  /** The state of the team that an agent coordinates. Undefined: no team. */
  situation(): Promise<Situation | undefined>;
  /** Folders whose files people and programs edit, beside agents. */
  sharedFolders(): Promise<readonly string[]>;
  /** The result of the work that a call waits for. Undefined: it is not over. */
  readWait(detail: Json): Promise<ToolResult | undefined>;
  /** Whether some feature judges events of this direction, on this channel or on any. */
  wants(direction: Direction, channel?: string): boolean;
}
