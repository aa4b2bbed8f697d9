/** The parts of a running Cortex that features are opened with. */
import type { Agent } from "../agents/agent.ts";
import type { Flags } from "../config/overrides.ts";
import type { Settings } from "../config/settings.ts";
import type { OwnIncoming } from "../events/incoming.ts";
import type { ChannelModule } from "../channels/channel.ts";
import type { OutletCan } from "../channels/outlet.ts";
import type { AcceptedEvent, ReadTogether, Received } from "../intake/accept-event.ts";
import type { Intake } from "../intake/intake.ts";
import type { ProgramWatch } from "../model/bounds.ts";
import type { EventId } from "../model/ids.ts";
import type { Profile } from "../model/profile.ts";
import type { Redact } from "../model/redact.ts";
import type { AgentFolder } from "../personas/plugin-pins.ts";
import type { SourceCursor } from "../store/store.ts";
import type { Apis, Cortex } from "./cortex.ts";
import type { Live } from "./live.ts";
import type { Outcomes } from "./outcomes.ts";

export interface Ports extends Intake {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
  readonly settings: Settings;
  readonly outcomes: Outcomes;
  readonly live: Live;
  /** Removes secrets from what leaves without being stored. */
  readonly redact: Redact;
  /** The APIs of the other features, once all are open. */
  readonly apis: Apis;
  /** The names of all tools of all features. */
  readonly toolNames: readonly string[];
  /** The folders of all features in which agents work. */
  readonly agentFolders: () => Promise<readonly AgentFolder[]>;
  /** The names of the channels that can send. */
  readonly channels: () => readonly string[];
  /** What an account of a channel can send. Undefined: unknown channel. */
  readonly can: (channel: string, account?: string) => OutletCan | undefined;
  /** The backend of a profile, in this process. */
  readonly agentFor: (profile: Profile) => Promise<Agent>;
  /** Accepts an event once, in one commit with the cursor of its source. */
  readonly accept: (incoming: OwnIncoming, cursor?: SourceCursor) => Promise<AcceptedEvent>;
  /** Accepts what a channel read together, in one commit with its cursor. */
  readonly acceptAll: (received: readonly Received[], read: ReadTogether) => Promise<void>;
  /** The chat channels, by name, each loaded on use. */
  readonly channelModules: ReadonlyMap<string, () => Promise<ChannelModule>>;
  /** Tells the owner once that a chain of events reached its limit. */
  readonly onChainEnded: (event: EventId, by: string) => Promise<void>;
  /** Follows a program of the owner's, so that nothing of it is left when it ends. Call it right before its start. */
  readonly watchProgram: () => ProgramWatch;
  /** Opens a separate Cortex on another home, whose records are thrown away. */
  readonly openApart: (home: string) => Promise<Cortex>;
}
