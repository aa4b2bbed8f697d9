/**
 * Cortex as one thing: opens the store, reads the config, and lets the steps of the pipeline meet. Whoever
 * serves it over HTTP, or uses it as a library, has this in hand.
 */
import { hostname } from "node:os";

import { toEvent, toForeignEvent } from "../events/incoming.ts";
import type { Config } from "../config/config.ts";
import type { Flags } from "../config/overrides.ts";
import type { Redact } from "../model/redact.ts";
import { type Instant, Spans } from "../model/spans.ts";
import type { Tool } from "../model/tool.ts";
import { createUlidSource } from "../model/ulid.ts";
import { Broker } from "../queue/broker.ts";
import { gatherTurn, selectSteering } from "../queue/join.ts";
import { deliveriesOf } from "../delivery/address.ts";
import { Sender } from "../delivery/sender.ts";
import { openSqliteStore, type SqliteOptions } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { CoolDowns } from "../turns/cool-downs.ts";
import type { TurnPorts } from "../turns/turn-ports.ts";
import { watchApprovalDeadlines } from "../intake/approvals.ts";
import { acceptEvent } from "../intake/accept-event.ts";
import type { Cortex } from "../feature/cortex.ts";
import type { Feature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import { createBackends, windowOf } from "./backends.ts";
import { FEATURES } from "./features.ts";
import { OpenFeatures } from "./open-features.ts";
import { recordPersonas } from "./record-personas.ts";
import { sessionCalls } from "./session-calls.ts";
import { toolNamesOf } from "./tool-names.ts";
import { createChainNotices } from "../intake/chain-notices.ts";
import { createChannels } from "./channels.ts";
import { agentFolders, toolEnvironment } from "./folders.ts";
import { databasePath, makeHome } from "../config/home.ts";
import { Live } from "../feature/live.ts";
import { sendMessage } from "../intake/messages.ts";
import { Outcomes } from "../feature/outcomes.ts";
import { openSandbox } from "../turns/sandbox.ts";
import { followSecrets } from "./secrets.ts";
import { say } from "../intake/say.ts";
import { openSettings, type Settings } from "../config/settings.ts";
import { unsetVariables } from "../config/unset-variables.ts";
import { createAgentToolHooks } from "./tool-hooks.ts";

export type { Cortex };

export interface CortexOptions {
  readonly home: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Settings by the names of their flags: `{ port: "8080" }`. They win over environment and files. */
  readonly flags?: Flags;
  readonly clock?: () => number;
  /** Tools beside those that Cortex brings along. */
  readonly tools?: readonly Tool[];
  /** Instead of all. */
  readonly features?: readonly Feature[];
  /** Told, in one line, of what somebody should look at. */
  readonly log?: (line: string) => void;
  /** Awaited when the home is this process's and its config is read, before any work begins. What it throws ends the start. */
  readonly beforeWork?: (config: Config) => Promise<void>;
  /** Opens the ledger: on SQLite with a writer thread of its own, unless told otherwise. */
  readonly openStore?: (options: SqliteOptions) => Promise<Store>;
}

/** Starts Cortex on a home, which is made where there is none. Only one process at a time can. */
export async function openCortex(options: CortexOptions): Promise<Cortex> {
  const {
    home,
    environment = process.env,
    clock = Date.now,
    log = () => {},
    openStore = openSqliteStore,
  } = options;
  makeHome(home);
  let redact: Redact | undefined; // until the secrets are known, and nothing is written before that
  const store = await openStore({
    path: databasePath(home),
    clock,
    redact: (text) => redact?.(text) ?? text,
  });
  let settings: Settings | undefined;
  try {
    const live = new Live(store, clock);
    let onChanged: (() => void) | undefined;
    const onChange = (): void => {
      live.announce("config.changed");
      onChanged?.();
    };
    settings = await openSettings({ home, environment, flags: options.flags ?? {}, log, onChange });
    await options.beforeWork?.(settings.config());
    const follow = followSecrets({ home, environment, settings, clock });
    redact = follow;
    const logged = (line: string): void => log(follow(line));
    const watch = (listener: () => void): void => void (onChanged = listener);
    return await assemble({
      ...options,
      home,
      environment,
      clock,
      log: logged,
      redact: follow,
      store,
      settings,
      live,
      watch,
    });
  } catch (error) {
    await settings?.[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

type Parts = Required<Pick<CortexOptions, "home" | "environment" | "clock" | "log">> &
  Pick<CortexOptions, "tools" | "flags" | "features"> & {
    readonly redact: Redact;
    readonly store: Store;
    readonly settings: Settings;
    readonly live: Live;
    /** Calls back when the configuration has changed. */
    readonly watch: (listener: () => void) => void;
  };

async function assemble(parts: Parts): Promise<Cortex> {
  const { home, environment, clock, log, redact, store, settings, live, tools = [] } = parts;
  const { features = FEATURES } = parts;
  const open = new OpenFeatures();
  const mintId = createUlidSource(clock);
  const spans = new Spans(clock, readInstant);
  const outcomes = new Outcomes(store);
  const channels = createChannels(settings, () => open.channels());
  const sandbox = await openSandbox({
    home,
    environment,
    setting: () => settings.config().sandbox,
    sharedFolders: () => open.sharedFolders(),
  });
  await recordPersonas(store, settings.config());
  parts.watch(() => {
    recordPersonas(store, settings.config()).catch((error: unknown) =>
      log(`Personas were not recorded in the ledger: ${String(error)}`),
    );
    void sandbox.lookAgain();
    open.configChanged();
  });
  const backendFor = createBackends({ store, clock, mintId, environment: (name) => settings.variable(name) });
  const coolDowns = new CoolDowns(clock, redact);
  const turnPorts: TurnPorts = {
    store,
    settings,
    clock,
    mintId,
    random: Math.random,
    redact,
    spans,
    coolDowns,
    sandbox,
    agents: {
      agentFor: (profile, work) => (work.worker && open.agentFor(profile, work)) ?? backendFor(profile),
    },
    features: open,
    live,
    outcomes,
    tools: () => allTools(),
    toolHooks: createAgentToolHooks({
      home,
      config: () => settings.config(),
      variable: settings.variable,
      log,
    }),
    toolEnvironment: ({ credentials }) =>
      toolEnvironment(environment, { credentials, variable: (name) => settings.variable(name) }),
    skills: async (setup) => (await (await import("../personas/skills.ts")).skillsOf(setup, home)).skills,
    folders: (setup) => agentFolders(home, setup),
    window: windowOf,
    gatherTurn,
    selectSteering,
    deliveriesFor: ({ event, dispatches }, text, to) =>
      deliveriesOf({
        text,
        source: event,
        delivery: to ?? dispatches.find(({ delivery }) => delivery !== undefined)?.delivery,
        mintId,
      }),
  };
  const holder = `${hostname()}/${process.pid}/${mintId()}`;
  const broker = new Broker({
    store,
    lease: { holder, ttlMs: settings.config().broker.leaseMs },
    slots: () => settings.config().broker.maxConcurrentRuns,
    clock,
    // Loaded for the first turn: many a Cortex runs for hours without one.
    run: async (running) => (await import("../turns/run-turn.ts")).runTurn(running, turnPorts),
    onProblem: (error, claim) => log(`A run of ${claim.lease.session} was left for later: ${String(error)}`),
  });
  const ports: Ports = {
    home,
    environment,
    flags: parts.flags ?? {},
    clock,
    mintId,
    spans,
    log,
    store,
    settings,
    slots: broker,
    outcomes,
    live,
    apis: open.apis,
    toolNames: toolNamesOf(features),
    channels: channels.names,
    agentFor: backendFor,
    chats: () => open.chats,
    isJudged: (direction, channel) => open.wants(direction, channel),
    accept: (incoming, file) => acceptEvent(toEvent(incoming), ports, file),
    onChainEnded: createChainNotices({ store, settings, log }),
    openApart: (apart) => openCortex({ home: apart, environment: { PATH: environment["PATH"] }, clock }),
  };
  await open.open(features, ports);
  let made: Promise<readonly Tool[]> | undefined;
  /** Made for the first turn, too. */
  const allTools = (): Promise<readonly Tool[]> => (made ??= makeTools());
  async function makeTools(): Promise<readonly Tool[]> {
    const { createTools } = await import("./tools.ts");
    const core = { home, store, settings, channels: channels.names };
    return [...(await createTools(core, features, () => ports)), ...tools];
  }
  const sender = new Sender({
    store,
    channels: (name) => channels.find(name),
    holder,
    clock,
    random: Math.random,
    onProblem: (error, { target }) => log(`A delivery to ${target.channel} is tried again: ${String(error)}`),
  });
  const resumed = (await store.runs.active({ limit: 1_000 })).filter(
    ({ state }) => state !== "suspended",
  ).length;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      const { shutdownMs } = settings.config().broker;
      await open[Symbol.asyncDispose](); // before the queue: the end of a relay's step would begin the next one
      await Promise.all([broker.stop(shutdownMs), sender.stop(shutdownMs)]);
      await open.turnsEnded();
      await deadlines[Symbol.asyncDispose]();
      outcomes[Symbol.dispose]();
      live[Symbol.dispose]();
      await settings[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    })());
  const deadlines = watchApprovalDeadlines(store, clock);
  await open.recover();
  broker.start();
  sender.start();
  await open.start();

  return {
    home,
    store,
    live,
    spans,
    ...open.apis,
    resumed,
    config: () => settings.config(),
    model: () => settings.model(),
    coolDowns: () => coolDowns.list(),
    unsetVariables: () => unsetVariables(settings.config(), (name) => settings.variable(name)),
    sandbox: () => sandbox.mode(),
    send: (message) => sendMessage(message, ports),
    say: (message) => say(message, ports),
    outcome: (item, signal) => outcomes.wait(item, signal),
    accept: async (incoming) => acceptEvent(toForeignEvent(incoming), ports),
    ...sessionCalls(ports),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function readInstant(): Instant {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuMs: (user + system) / 1_000 };
}
