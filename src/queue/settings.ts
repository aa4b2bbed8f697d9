/**
 * How a message is queued: each setting is the message's own, else the session's, the account's on its channel, the
 * channel's, the agent's, the configuration's. So a session that only says `cap` keeps the mode of its channel.
 */
import type { AgentConfig, Config } from "../config/config.ts";
import type { AgentId } from "../model/ids.ts";
import { parseQueueMode, QUEUE_MODES, type QueueMode } from "../model/queue-mode.ts";
import {
  DROP_POLICIES,
  INTERRUPT_POLICIES,
  MAX_DEBOUNCE_MS,
  MAX_QUEUE_CAP,
  type QueueSettings,
} from "../model/queue-settings.ts";
import type { Settings } from "../store/store.ts";

/** People expect to be heard at once; agents, timers and webhooks wait their turn. */
type SenderKind = "person" | "agent";

/** Who has decided on a setting. */
export type QueueSource = "message" | "session" | "account" | "channel" | "agent" | "config";

export interface QueueWishes {
  /** The mode that the message names. */
  readonly mode: string | undefined;
  readonly session: Settings | undefined;
  readonly channel: string;
  /** The mode of the channel's account, for the messages of people. */
  readonly accountMode?: QueueMode | undefined;
  readonly agent: AgentId | undefined;
  readonly sender: SenderKind;
  readonly config: {
    readonly broker: Pick<Config["broker"], "queue">;
    readonly agents: Readonly<Record<AgentId, Pick<AgentConfig, "queueMode">>>;
  };
}

export interface ResolvedQueue {
  readonly settings: QueueSettings;
  readonly sources: Readonly<Record<keyof QueueSettings, QueueSource>>;
}

export function resolveQueue({
  mode,
  session,
  channel,
  accountMode,
  agent,
  sender,
  config,
}: QueueWishes): ResolvedQueue {
  const { agentMode, byChannel, ...configured } = config.broker.queue;
  const queueMode = agent === undefined ? undefined : config.agents[agent]?.queueMode;
  const layers: readonly [QueueSource, Partial<QueueSettings>][] = [
    ["message", mode === undefined ? {} : { mode: parseQueueMode(mode) }],
    ["session", readSession(session)],
    ["account", accountMode === undefined || sender !== "person" ? {} : { mode: accountMode }],
    ["channel", Object.hasOwn(byChannel, channel) ? byChannel[channel]! : {}],
    ["agent", queueMode === undefined ? {} : { mode: queueMode }],
    ["config", sender === "person" ? configured : { ...configured, mode: agentMode }],
  ];
  const settings: Partial<Record<keyof QueueSettings, unknown>> = {};
  const sources: Partial<Record<keyof QueueSettings, QueueSource>> = {};
  for (const name of SETTINGS) {
    const [source, layer] = layers.find(([, wishes]) => wishes[name] !== undefined)!; // the config has them all
    settings[name] = layer[name];
    sources[name] = source;
  }
  return { settings: settings as QueueSettings, sources: sources as ResolvedQueue["sources"] };
}

/** What `/queue reset` takes back from the settings of a session. */
export const NO_SETTINGS: Settings = {
  mode: null,
  debounceMs: null,
  cap: null,
  drop: null,
  onInterrupt: null,
};

const SETTINGS = Object.keys(NO_SETTINGS) as (keyof QueueSettings)[];

/** What a session says of its queue. A value that could not have been set is passed over. */
function readSession(settings: Settings = {}): Partial<QueueSettings> {
  return {
    ...among("mode", QUEUE_MODES, settings),
    ...between("debounceMs", 0, MAX_DEBOUNCE_MS, settings),
    ...between("cap", 1, MAX_QUEUE_CAP, settings),
    ...among("drop", DROP_POLICIES, settings),
    ...among("onInterrupt", INTERRUPT_POLICIES, settings),
  };
}

function among<Name extends string, Value extends string>(
  name: Name,
  values: readonly Value[],
  settings: Settings,
): { [Key in Name]?: Value } {
  const value = values.find((candidate) => candidate === settings[name]);
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value });
}

function between<Name extends string>(
  name: Name,
  min: number,
  max: number,
  settings: Settings,
): { [Key in Name]?: number } {
  const value = settings[name];
  const isIn = typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
  return isIn ? ({ [name]: value } as { [Key in Name]: number }) : {};
}
