/**
 * A feature is one folder that holds everything about one thing: its core, tools, routes, commands, views and doctor
 * checks. Its `feature.ts` lists them, and `runtime/features.ts` lists the features; nothing else names them.
 *
 * `feature.ts` is loaded by every start and every command, so it holds tables and imports the code behind them on use.
 */
import type { Agent } from "../agents/agent.ts";
import type { ChannelModule } from "../channels/channel.ts";
import type { Outlet } from "../channels/outlet.ts";
import type { Config } from "../config/config.ts";
import type { Flags } from "../config/overrides.ts";
import type { Setting } from "../config/configured.ts";
import type { ButtonHandler } from "../intake/buttons.ts";
import type { ChatCommands } from "../intake/chat-commands.ts";
import type { Direction } from "../model/event.ts";
import type { Json } from "../model/json.ts";
import type { Profile } from "../model/profile.ts";
import type { AgentFolder } from "../personas/plugin-pins.ts";
import type { Tool, ToolResult } from "../model/tool.ts";
import type { Situation, WorkerWork } from "../turns/turn-ports.ts";
import type { Check } from "./check.ts";
import type { Command } from "./command.ts";
import type { Apis } from "./cortex.ts";
import type { Ports } from "./ports.ts";
import type { RouteTable } from "./route.ts";

export interface Feature {
  readonly name: string;
  /** Commands of the command line. */
  readonly commands?: readonly Command[];
  /** The words that its chat commands start with, for completion: `!team`. */
  readonly chatWords?: readonly string[];
  /** Options that it adds to `cortex up`, which reach it as `Ports.flags`. */
  readonly upOptions?: Command["options"];
  /** Its own settings in effect, as `cortex config` lists them. */
  readonly settings?: (home: Pick<CheckedHome, "home" | "environment">) => Promise<readonly Setting[]>;
  /** Writes the files that it brings into a new home. Files that exist are kept. */
  readonly writeStarterFiles?: (home: string) => Promise<StarterFiles>;
  /** The names of its tools, so that a configuration can be checked without loading them. */
  readonly toolNames?: readonly string[];
  /**
   * Its tools. They ask for the ports when they are called, so that they can be described without a running Cortex;
   * the configuration is always there.
   */
  readonly tools?: (ports: () => Ports, config: () => Config) => Promise<readonly Tool[]>;
  /** What the server answers for it. */
  readonly routes?: () => Promise<RouteTable>;
  /** Folders in which agents work for it, beside their workspaces. */
  readonly agentFolders?: (home: AgentHome) => Promise<readonly AgentFolder[]>;
  /** What `cortex doctor` says about it on a valid configuration. Nothing to report: no checks. */
  readonly check?: (home: CheckedHome) => Promise<readonly Check[]>;
  /** The chat channel of its name. */
  readonly channel?: () => Promise<ChannelModule>;
  /** Opens it in a running Cortex. It is closed before the queue is. */
  readonly open?: (ports: Ports) => Promise<OpenFeature>;
}

/** The files that a feature has written into a new home. */
export interface StarterFiles {
  /** Empty: the home had them all. */
  readonly paths: readonly string[];
  /** What `cortex init` prints after "Wrote": `3 hooks to /home/ada/.cortex/hooks`. */
  readonly summary: string;
}

/** A home, with the flags of its server. */
export interface AgentHome extends Pick<CheckedHome, "home" | "environment"> {
  readonly flags?: Flags;
}

/** A home that the doctor looks at, with or without a server on it. */
export interface CheckedHome {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The names of all tools of all features. */
  readonly toolNames: readonly string[];
  /** The folders of all features in which agents work. Undefined: not asked for. */
  readonly agentFolders?: (() => Promise<readonly AgentFolder[]>) | undefined;
  /** How to reach other machines. Absent: none is contacted, on whatever way. */
  readonly request?: typeof fetch | undefined;
}

/** A feature at work in a running Cortex. */
export interface OpenFeature extends Partial<AsyncDisposable> {
  /** What it offers by name: `cortex.relays`. */
  readonly api?: Partial<Apis>;
  /** Commands that people type in a chat. */
  readonly chat?: ChatCommands;
  /** The buttons below its messages. */
  readonly buttons?: readonly ButtonHandler[];
  /** Opens its ways out by name. Called again when the configuration has changed. */
  outlets?(): readonly Outlet[];
  /** The way out of an account of a channel that it keeps open. Undefined: it is not this feature's. */
  outlet?(channel: string, account: string): Outlet | undefined;
  /** The names of the channels that it can send through. */
  outletNames?(): readonly string[];
  /** Picks up what the previous process left. Awaited before any turn runs. */
  recover?(): Promise<void>;
  /** Begins its own work, once turns run. */
  start?(): Promise<void> | void;
  /** No turn runs any more. Awaited after the feature was closed: releases what turns were using. */
  turnsEnded?(): Promise<void>;
  /** The configuration has changed. */
  configChanged?(): void;
  /** Whether it wants to judge events of this direction, on this channel or on any. */
  wants?(direction: Direction, channel?: string): boolean;
  /** The agent that runs the turns of a worker. Undefined: the backend of the profile does. */
  agentFor?(profile: Profile, work: WorkerWork): Promise<Agent> | undefined;
  /** The current situation as Markdown, added to the message that begins a conversation. */
  situation?(): Promise<Situation | undefined>;
  /** Reads what a suspended call waits for. Undefined: it is not over yet, or not this feature's. */
  readWait?(detail: Json): Promise<ToolResult | undefined>;
  /** A folder that agents share. Commands of agents cannot write to the git repository that holds it. */
  sharedFolder?(): Promise<string>;
}
