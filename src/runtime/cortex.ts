/** Opens a Cortex on a home: the store, the configuration, the steps of the pipeline and the features, connected. */
import { hostname } from "node:os";

import { toOwnEvent, toForeignEvent } from "../events/incoming.ts";
import type { Config } from "../config/config.ts";
import type { Flags } from "../config/overrides.ts";
import { errorText } from "../model/errors.ts";
import type { Redact } from "../model/redact.ts";
import { type Instant, Spans } from "../model/spans.ts";
import type { Tool } from "../model/tool.ts";
import { createUlidSource } from "../model/ulid.ts";
import { Broker } from "../queue/broker.ts";
import { deliveriesOf } from "../delivery/address.ts";
import { Sender } from "../delivery/sender.ts";
import { openSqliteStore, type SqliteOptions } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { takePeopleOver } from "../personas/take-people-over.ts";
import { CoolDowns } from "../turns/choose-profile.ts";
import type { TurnPorts } from "../turns/turn-ports.ts";
import { watchApprovalDeadlines } from "../intake/approvals.ts";
import { acceptEvent, acceptEvents } from "../intake/accept-event.ts";
import type { Cortex } from "../feature/cortex.ts";
import type { Feature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import { createBackends, windowOf } from "./backends.ts";
import { agentFoldersOf, channelModulesOf, FEATURES, toolNamesOf } from "./features.ts";
import { OpenFeatures } from "./open-features.ts";
import { recordPersonas } from "./record-personas.ts";
import { sessionCalls } from "./session-calls.ts";
import { createChainNotices } from "../intake/chain-notices.ts";
import { createOutlets } from "./channels.ts";
import { databasePath, makeHome } from "../config/home.ts";
import { Live } from "../feature/live.ts";
import { sendMessage } from "../intake/messages.ts";
import { Outcomes } from "../feature/outcomes.ts";
import { type Boundaries, openBounds } from "../turns/bounds.ts";
import { openSandbox, type SandboxWatch } from "../turns/sandbox.ts";
import { followSecrets } from "./secrets.ts";
import { say } from "../intake/say.ts";
import { openSettings, type Settings } from "../config/settings.ts";
import { unsetVariables } from "../config/unset-variables.ts";

export type { Cortex };

export interface CortexOptions {
  readonly home: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Settings by the names of their flags: `{ port: "8080" }`. They win over environment and files. */
  readonly flags?: Flags;
  readonly clock?: () => number;
  /** Tools in addition to the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Instead of all features. */
  readonly features?: readonly Feature[];
  /** Receives one line for each thing that needs attention. */
  readonly log?: (line: string) => void;
  /** Awaited once the home is locked and its configuration read, before any work starts. If it throws, the start fails. */
  readonly beforeWork?: (config: Config) => Promise<void>;
  /** Opens the ledger. By default on SQLite, with a writer thread. */
  readonly openStore?: (options: SqliteOptions) => Promise<Store>;
}

/** Starts Cortex on a home, creating it if missing. Only one process can run on a home. */
export async function openCortex(options: CortexOptions): Promise<Cortex> {
  const {
    home,
    environment = process.env,
    clock = Date.now,
    log = () => {},
    openStore = openSqliteStore,
  } = options;
  makeHome(home);
  let redact: Redact | undefined; // nothing is written before the secrets are known
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
    return await start({
      ...options,
      features: options.features ?? FEATURES,
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

/** What everything else is built on. */
interface Foundation extends Pick<CortexOptions, "tools" | "flags"> {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly features: readonly Feature[];
  readonly clock: () => number;
  readonly log: (line: string) => void;
  readonly redact: Redact;
  readonly store: Store;
  readonly settings: Settings;
  readonly live: Live;
  /** Calls back when the configuration has changed. */
  readonly watch: (listener: () => void) => void;
}

/** Builds the parts, takes up what the previous process left, and starts working. */
async function start(base: Foundation): Promise<Cortex> {
  const { home, environment, store, settings, live } = base;
  const open = new OpenFeatures();
  const bounds = openBounds({ home, config: () => settings.config(), log: base.log });
  await bounds.endLeftovers();
  const sandbox = await openSandbox({
    home,
    environment,
    setting: () => settings.config().sandbox,
    sharedFolders: () => open.sharedFolders(),
  });
  await followConfig(base, { sandbox, open });
  const parts = connect(base, { sandbox, bounds, open });
  const { ports, broker, sender, coolDowns } = parts;
  await open.open(base.features, ports);
  const active = await store.runs.active({ limit: MAX_RESUMED });
  const deadlines = watchApprovalDeadlines(store, base.clock);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopAll(base, { ...parts, open, deadlines }));
  await open.recover();
  broker.start();
  sender.start();
  await open.start();

  return {
    home,
    store,
    live,
    spans: ports.spans,
    ...open.apis,
    resumed: active.filter(({ state }) => state !== "suspended").length,
    config: () => settings.config(),
    model: () => settings.model(),
    coolDowns: () => coolDowns.list(),
    unsetVariables: () => unsetVariables(settings.config(), settings.variable),
    sandbox: sandbox.mode,
    quotas: () => bounds.quotas(),
    send: (message) => sendMessage(message, ports),
    say: (message) => say(message, ports),
    outcome: (item, signal) => ports.outcomes.wait(item, signal),
    accept: async (incoming, caller) => acceptEvent(toForeignEvent(incoming, caller), ports),
    ...sessionCalls(ports),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Runs that are counted as resumed. */
const MAX_RESUMED = 1_000;

/** What is opened before the ports exist. */
interface Opened {
  readonly sandbox: SandboxWatch;
  readonly bounds: Boundaries;
  readonly open: OpenFeatures;
}

async function followConfig(
  { store, settings, log, watch }: Foundation,
  { sandbox, open }: Omit<Opened, "bounds">,
): Promise<void> {
  const takeOver = async (): Promise<void> => {
    try {
      const taken = await takePeopleOver(store, settings.config());
      if (taken > 0) log(`Took over ${taken} people from channels.paired; see \`cortex people list\``);
    } catch (error) {
      // They are guests until then, which takes nothing from the others.
      log(`Cannot take over the people in channels.paired: ${errorText(error)}`);
    }
  };
  await recordPersonas(store, settings.config());
  await takeOver();
  watch(() => {
    recordPersonas(store, settings.config()).catch((error: unknown) =>
      log(`Cannot record the personas in the ledger: ${String(error)}`),
    );
    void takeOver();
    void sandbox.lookAgain();
    open.configChanged();
  });
}

/** The parts that work, and the ports that they share. */
interface Connected {
  readonly ports: Ports;
  readonly broker: Broker;
  readonly sender: Sender;
  readonly coolDowns: CoolDowns;
}

function connect(base: Foundation, { sandbox, bounds, open }: Opened): Connected {
  const { home, environment, clock, log, redact, store, settings, live, features } = base;
  const mintId = createUlidSource(clock);
  const holder = `${hostname()}/${process.pid}/${mintId()}`;
  const outlets = createOutlets(settings, open);
  const broker = new Broker({
    store,
    lease: { holder, ttlMs: settings.config().broker.leaseMs },
    slots: () => settings.config().broker.maxConcurrentRuns,
    clock,
    // Loaded with the first turn: many processes run for hours without one.
    run: async (running) => (await import("../turns/run-turn.ts")).runTurn(running, turnPorts),
    onProblem: (error, claim) => log(`Postponed a run of ${claim.lease.session}: ${String(error)}`),
  });
  const sender = new Sender({
    store,
    outlets: outlets.find,
    holder,
    clock,
    random: Math.random,
    onProblem: (error, { target }) => log(`Retrying a delivery to ${target.channel}: ${String(error)}`),
  });
  const ports: Ports = {
    home,
    environment,
    flags: base.flags ?? {},
    clock,
    mintId,
    spans: new Spans(clock, readInstant),
    log,
    store,
    settings,
    slots: broker,
    outcomes: new Outcomes(store),
    live,
    redact,
    apis: open.apis,
    toolNames: toolNamesOf(features),
    agentFolders: () => agentFoldersOf(features, { home, environment, flags: base.flags ?? {} }),
    channels: outlets.names,
    can: (channel, account) => outlets.find(channel, account)?.can,
    agentFor: createBackends({ store, clock, mintId, settings }),
    chats: () => open.chats,
    buttons: () => open.buttons,
    isJudged: (direction, channel) => open.wants(direction, channel),
    accept: (incoming, cursor) => acceptEvent(toOwnEvent(incoming), ports, cursor),
    acceptAll: (received, read) => acceptEvents(received, read, ports),
    channelModules: channelModulesOf(features),
    onChainEnded: createChainNotices({ store, settings, log }),
    watchProgram: () => bounds.watch(),
    openApart: (apart) => openCortex({ home: apart, environment: { PATH: environment["PATH"] }, clock }),
  };
  const coolDowns = new CoolDowns(clock, redact);
  let tools: Promise<readonly Tool[]> | undefined;
  const turnPorts: TurnPorts = {
    ...ports,
    random: Math.random,
    coolDowns,
    sandbox,
    bounds,
    features: open,
    tools: () => (tools ??= makeTools(base, ports)),
    windowOf,
    deliveriesOf,
  };
  return { ports, broker, sender, coolDowns };
}

/** Made for the first turn. */
async function makeTools({ features, tools = [] }: Foundation, ports: Ports): Promise<readonly Tool[]> {
  const { createTools } = await import("./tools.ts");
  return [...(await createTools(ports, features, () => ports)), ...tools];
}

async function stopAll(
  { settings, store, live }: Foundation,
  { open, broker, sender, deadlines, ports }: Connected & { open: OpenFeatures; deadlines: AsyncDisposable },
): Promise<void> {
  const { shutdownMs } = settings.config().broker;
  await open[Symbol.asyncDispose](); // before the queue: the end of a relay's step would begin the next one
  await Promise.all([broker.stop(shutdownMs), sender.stop(shutdownMs)]);
  await open.turnsEnded();
  await deadlines[Symbol.asyncDispose]();
  ports.outcomes[Symbol.dispose]();
  live[Symbol.dispose]();
  await settings[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
}

function readInstant(): Instant {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuMs: (user + system) / 1_000 };
}
