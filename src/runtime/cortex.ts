/**
 * Cortex as one thing: opens the store, reads the config, and lets the steps of the pipeline meet. Whoever
 * serves it over HTTP, or uses it as a library, has this in hand.
 */
import assert from "node:assert/strict";
import { hostname } from "node:os";

import { type Incoming, toEvent, toForeignEvent } from "../events/incoming.ts";
import type { Config } from "../config/config.ts";
import type { Flags } from "../config/overrides.ts";
import { CortexError } from "../model/errors.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Redact } from "../model/redact.ts";
import type { DelegationId, EventId, ItemId, PersonaId, RelayId, RunId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Profile } from "../model/profile.ts";
import { normalizeSessionKey, type SessionKey } from "../model/session-key.ts";
import type { Tool, ToolResult } from "../model/tool.ts";
import { createUlidSource } from "../model/ulid.ts";
import { Broker } from "../queue/broker.ts";
import { gatherTurn, selectSteering } from "../queue/join.ts";
import { findMainSession, forkLabel, resolveRoute } from "../routing/resolve.ts";
import { sessionOfEvent } from "../routing/session-of-event.ts";
import { subAgentGuidance } from "../delegation/sub-agents/guidance.ts";
import { childResult } from "../delegation/outcome.ts";
import { Reporter } from "../delegation/reporter.ts";
import { deliveriesOf } from "../delivery/address.ts";
import { Sender } from "../delivery/sender.ts";
import { Indexer } from "../search/indexer.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { authorityOf } from "../personas/authority.ts";
import type { Setup } from "../personas/lookup.ts";
import {
  type FileState,
  MAX_PAGE,
  type NewEvent,
  type QueueItem,
  type SearchHit,
  type Store,
  type StoredSession,
} from "../store/store.ts";
import { type CoolDown, CoolDowns } from "../turns/cool-downs.ts";
import { ApprovalDeadlines } from "../intake/approvals.ts";
import { withFiledAttachments } from "../intake/attachments.ts";
import { createBackends } from "./backends.ts";
import { delegationParts } from "../delegation/assemble.ts";
import { createChainNotices } from "../intake/chain-notices.ts";
import { createChannels } from "./channels.ts";
import { takeChatEvent } from "../intake/chat-events.ts";
import { describeStatus } from "../intake/chat-commands.ts";
import { dayStart } from "../model/day.ts";
import type { ModelChoice } from "../config/choose-model.ts";
import { agentFolders, toolEnvironment } from "./folders.ts";
import { databasePath, makeHome } from "../config/home.ts";
import { type Hooks, openHooks } from "../hooks/open-hooks.ts";
import { Inbound, type IncomingWebhook, type TakenWebhook } from "./inbound.ts";
import { Live } from "../feature/live.ts";
import { type NewMessage, sendMessage, type SendParts, type Sent } from "../intake/messages.ts";
import { type Outcome, Outcomes } from "./outcomes.ts";
import { openSandbox, type SandboxMode } from "../turns/sandbox.ts";
import { followSecrets } from "./secrets.ts";
import { readRelayResult } from "../relay/record/result.ts";
import { relayToolParts } from "../relay/surface/tool-parts.ts";
import { prepareRelays } from "../relay/prepare-relays.ts";
import { PreparedSessionScripts } from "../relay/prepare-session-scripts.ts";
import type { Relays } from "../relay/relays.ts";
import { prepareTeam } from "../team/prepare-team.ts";
import type { Teamwork } from "../team/teamwork.ts";
import { teamToolParts } from "../team/surface/tool-parts.ts";
import { say, type Said } from "../intake/say.ts";
import { openSettings, type Settings } from "../config/settings.ts";
import { type UnsetVariable, unsetVariables } from "../config/unset-variables.ts";
import { openSubAgents } from "../delegation/sub-agents/open-sub-agents.ts";
import { createAgentToolHooks } from "./tool-hooks.ts";
import { windowOf } from "./window.ts";

export interface CortexOptions {
  readonly home: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Settings by the names of their flags: `{ port: "8080" }`. They win over environment and files. */
  readonly flags?: Flags;
  readonly clock?: () => number;
  /** Tools beside those that Cortex brings along. */
  readonly tools?: readonly Tool[];
  /** Told, in one line, of what somebody should look at. */
  readonly log?: (line: string) => void;
  /** Awaited when the home is this process's and its config is read, before any work begins. What it throws ends the start. */
  readonly beforeWork?: (config: Config) => Promise<void>;
}

/** A running Cortex. */
export interface Cortex extends AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  readonly live: Live;
  readonly hooks: Hooks;
  readonly relays: Relays;
  readonly team: Teamwork;
  /** As it is now: it may be another one after a change of the files. */
  config(): Config;
  /** The model that answers where nothing else is said, and why it is that one. */
  model(): ModelChoice;
  /** Profiles whose models failed and that are left alone for now. */
  coolDowns(): readonly CoolDown[];
  /** Variables that settings name and that are not set. */
  unsetVariables(): readonly UnsetVariable[];
  /** What becomes of commands of agents. */
  sandbox(): SandboxMode;
  /** How many turns the process before this one had left unfinished. */
  readonly resumed: number;

  /** Sends a message as it is, whatever it begins with. */
  send(message: NewMessage): Promise<Sent>;
  /** Takes what a person wrote: commands to Cortex are carried out, all else is sent. */
  say(message: NewMessage): Promise<Said>;
  /** Waits until a message has ended. Undefined: the signal came first. */
  outcome(item: ItemId, signal: AbortSignal): Promise<Outcome | undefined>;
  /** Takes an event in; its adapter is none of Cortex's own. True: it is new. Throws `event_invalid`. */
  accept(incoming: Incoming): Promise<{ readonly event: EventId; readonly fresh: boolean }>;
  /**
   * Takes a webhook in, after its signature was found to be good. Throws `webhook_unknown`, `webhook_unconfigured`
   * and `signature_invalid`.
   */
  receiveWebhook(name: string, request: IncomingWebhook): Promise<TakenWebhook>;
  // Wherever a session is named, `send`'s forms are accepted: `main`, a label or a whole key.
  /** A new session that points at this turn. */
  fork(turn: TurnId, label?: string): Promise<StoredSession>;
  /** The sessions of the workers that the agent of a session has opened, oldest first. Throws `session_unknown`. */
  getChildSessions(session: string): Promise<StoredSession[]>;
  /** The session whose agent opened this one. Undefined: no agent did. Throws `session_unknown`. */
  getParentSession(session: string): Promise<StoredSession | undefined>;
  /** How many workers the agent of a session has opened. Throws `session_unknown`. */
  countChildSessions(session: string): Promise<number>;
  /** Ends the run of a session, and all that its agent has given to workers; what was produced stays. False: nothing runs there. */
  abort(session: string): Promise<boolean>;
  /** Gives the answer that a suspended run waits for. False: it no longer does. */
  answer(run: RunId, result: ToolResult, ordinal?: number): Promise<boolean>;
  /** Takes no new work, lets runs come to a safe point, and closes the store. */
  stop(): Promise<void>;
}

/** Starts Cortex on a home, which is made where there is none. Only one process at a time can. */
export async function openCortex(options: CortexOptions): Promise<Cortex> {
  const { home, environment = process.env, clock = Date.now, log = () => {} } = options;
  makeHome(home);
  let redact: Redact | undefined; // until the secrets are known, and nothing is written before that
  const store = await openSqliteStore({
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
  Pick<CortexOptions, "tools" | "flags"> & {
    readonly redact: Redact;
    readonly store: Store;
    readonly settings: Settings;
    readonly live: Live;
    /** Calls back when the configuration has changed. */
    readonly watch: (listener: () => void) => void;
  };

async function assemble(parts: Parts): Promise<Cortex> {
  const { home, environment, clock, log, redact, store, settings, live, tools = [] } = parts;
  const mintId = createUlidSource(clock);
  const outcomes = new Outcomes(store);
  const channels = createChannels(settings, clock);
  const sandbox = await openSandbox({
    home,
    environment,
    setting: () => settings.config().sandbox,
    teamFolder: () => team.root(),
  });
  const acceptEvent = async (given: NewEvent, file?: FileState) => {
    const filed = await withFiledAttachments(given, home);
    const reply = await takeChatEvent(filed, { store, config: settings.config(), status: statusFor });
    const event =
      reply === undefined ? filed : { ...filed, metadata: { ...(filed.metadata as object), reply } };
    const judge = reply === undefined && hooks.wants(event.direction, event.channel);
    const { fresh } = await store.events.accept(event, { judge, ...(file === undefined ? {} : { file }) });
    return { event: event.id, fresh };
  };
  const statusFor = async (event: NewEvent): Promise<string> => {
    const config = settings.config();
    const session = sessionOfEvent(event, { isPersons: true, config });
    const target = await resolveRoute({ session }, { ledger: store, config, mintId });
    assert(target.kind === "session");
    return describeStatus({ target, channel: event.channel }, { store, config });
  };
  const inbound = new Inbound({
    home,
    store,
    settings,
    clock,
    accept: (incoming, file) => acceptEvent(toEvent(incoming), file),
    wantsTimer: () => hooks.wants("received", "timer"),
    log,
  });
  await keepPersonas(store, settings.config());
  parts.watch(() => {
    keepPersonas(store, settings.config()).catch((error: unknown) =>
      log(`The personas could not be kept in the ledger: ${String(error)}`),
    );
    void sandbox.lookAgain();
    inbound.lookAgain();
    relays.lookAgain();
    team.lookAgain();
  });
  const backendFor = createBackends({ store, clock, mintId, environment: (name) => settings.variable(name) });
  const subAgents = openSubAgents({ home, environment, settings, clock, mintId, backendFor, log });
  const coolDowns = new CoolDowns(clock, redact);
  const turnParts = {
    store,
    config: () => settings.config(),
    clock,
    mintId,
    random: Math.random,
    profile: (name: string): Profile => settings.profile(name),
    coolDowns,
    agentFor: subAgents.agentFor.bind(subAgents),
    subAgentGuidance: () => subAgentGuidance(settings.config()),
    situation: () => team.situation(),
    readChild: (detail: Json) => readChild(detail, { home, store }),
    tools: () => allTools(),
    skills: async (setup: Setup) =>
      (await (await import("../insight/context-view.ts")).skillsOf(setup, home)).skills,
    window: windowOf,
    isOwners: ({ channel, sender }: SearchHit) =>
      authorityOf({ channel, ...(sender === undefined ? {} : { sender }) }, settings.config()) === "owner",
    folders: (setup: Parameters<typeof agentFolders>[1]) => agentFolders(home, setup),
    toolEnvironment: ({ credentials }: Permissions) =>
      toolEnvironment(environment, { credentials, variable: (name) => settings.variable(name) }),
    sandbox: () => ({ mode: sandbox.mode().effective, sandbox: sandbox.sandbox() }),
    toolHooks: createAgentToolHooks({
      home,
      config: () => settings.config(),
      variable: settings.variable,
      log,
    }),
    redact,
    dayStartMs: () => dayStart(clock(), settings.config().timezone),
    selectSteering,
    gatherTurn,
    onDelta: live.tell.bind(live),
    deliveriesFor: ({ event, dispatches }: QueueItem, text: string, to?: Json) =>
      deliveriesOf({
        text,
        source: event,
        delivery: to ?? dispatches.find(({ delivery }) => delivery !== undefined)?.delivery,
        mintId,
      }),
    isJudged: () => hooks.wants("sent"),
    onSettled: (items: readonly ItemId[]) => outcomes.look(items),
  };
  const holder = `${hostname()}/${process.pid}/${mintId()}`;
  const broker = new Broker({
    store,
    lease: { holder, ttlMs: settings.config().broker.leaseMs },
    slots: () => settings.config().broker.maxConcurrentRuns,
    clock,
    // Loaded for the first turn: many a Cortex runs for hours without one.
    run: async (running) => (await import("../turns/run-turn.ts")).runTurn(running, turnParts),
    onProblem: (error, claim) => log(`A run of ${claim.lease.session} was left for later: ${String(error)}`),
  });
  const relays = prepareRelays({
    store,
    home,
    clock,
    mintId,
    withSlot: broker.withSlot.bind(broker),
    settings,
    environment,
    log,
    onChange: () => live.announce("config.changed"),
    openApart: (apart) => openCortex({ home: apart, environment: { PATH: environment["PATH"] }, clock }),
  });
  const team = prepareTeam({
    home,
    store,
    clock,
    mintId,
    environment,
    flags: parts.flags ?? {},
    settings,
    timezone: () => settings.config().timezone,
    withSlot: broker.withSlot.bind(broker),
    relays,
    settled: (item, signal) => outcomes.wait(item, signal),
    channels: channels.names,
    log,
    onChange: () => live.announce("team.changed"),
  });
  const onChainEnded = createChainNotices({ store, config: () => settings.config(), log });
  const hooks = await openHooks({
    ...turnParts,
    agentFor: backendFor,
    home,
    broker,
    relays: () => relays,
    variable: settings.variable,
    onChainEnded,
    log,
  });
  const delegating = delegationParts({
    store,
    config: () => settings.config(),
    clock,
    mintId,
    broker,
    checkProfile: (name) => void settings.profile(name),
    isJudged: (channel) => hooks.wants("sent", channel),
    onChainEnded,
    log,
  });
  const reporter = new Reporter(delegating);
  const sessionScripts = new PreparedSessionScripts({
    home,
    store,
    clock,
    mintId,
    environment,
    variable: settings.variable,
    isPerson: (sender) => ["owner", "paired"].includes(authorityOf(sender, settings.config())),
    withSlot: broker.withSlot.bind(broker),
    log,
  });
  let made: Promise<readonly Tool[]> | undefined;
  /** Made for the first turn, too. */
  const allTools = (): Promise<readonly Tool[]> => (made ??= makeTools());
  async function makeTools(): Promise<readonly Tool[]> {
    const { createTools } = await import("./tools.ts");
    return [
      ...(await createTools({
        home,
        store,
        settings,
        channels: channels.names,
        delegating: () => delegating,
        relaying: () => relayToolParts({ relays, config: () => settings.config(), onChainEnded, store }),
        teaming: () => teamToolParts({ team, store, config: () => settings.config(), onChainEnded }),
        hooks: {
          list: () => store.hooks.list(),
          add: (name, source) => hooks.add(name, source),
          setEnabled: (name, enabled) => hooks.setEnabled(name, enabled),
        },
      })),
      ...tools,
    ];
  }
  const sender = new Sender({
    store,
    channels: channels.find,
    holder,
    clock,
    random: Math.random,
    onProblem: (error, { target }) => log(`A delivery to ${target.channel} is tried again: ${String(error)}`),
  });
  const resumed = (await store.runs.active({ limit: 1_000 })).filter(
    ({ state }) => state !== "suspended",
  ).length;
  const sendParts = (): SendParts => ({
    store,
    config: settings.config(),
    broker,
    clock,
    mintId,
    checkProfile: (name) => void settings.profile(name),
    isJudged: (channel) => hooks.wants("received", channel),
  });
  async function findSession(name: string): Promise<StoredSession> {
    const session = normalizeSessionKey(name);
    const found = await store.sessions.get(session);
    if (found === undefined) throw sessionUnknown(session);
    return found;
  }
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      const { shutdownMs } = settings.config().broker;
      await inbound[Symbol.asyncDispose]();
      await hooks[Symbol.asyncDispose]();
      await sessionScripts[Symbol.asyncDispose]();
      await team[Symbol.asyncDispose]();
      await relays[Symbol.asyncDispose](); // first: the end of a step would begin the next one
      await Promise.all([
        broker.stop(shutdownMs),
        sender.stop(shutdownMs),
        indexer[Symbol.asyncDispose](),
        reporter[Symbol.asyncDispose](),
      ]);
      await subAgents[Symbol.asyncDispose]();
      deadlines[Symbol.dispose]();
      outcomes[Symbol.dispose]();
      live[Symbol.dispose]();
      await settings[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    })());
  const deadlines = new ApprovalDeadlines(store, clock);
  const indexer = new Indexer({
    store,
    onProblem: (error) => log(`What was said is not indexed for now: ${String(error)}`),
  });
  await relays.start();
  await sessionScripts.start();
  broker.start();
  sender.start();
  indexer.start();
  reporter.start();
  hooks.start();
  inbound.start();
  await team.start();

  return {
    home,
    store,
    live,
    hooks,
    relays,
    team,
    resumed,
    config: () => settings.config(),
    model: () => settings.model(),
    coolDowns: () => coolDowns.list(),
    unsetVariables: () => unsetVariables(settings.config(), (name) => settings.variable(name)),
    sandbox: () => sandbox.mode(),
    send: (message) => sendMessage(message, sendParts()),
    say: (message) => say(message, { ...sendParts(), relays, team }),
    outcome: (item, signal) => outcomes.wait(item, signal),
    accept: async (incoming) => acceptEvent(toForeignEvent(incoming)),
    receiveWebhook: (name, request) => inbound.receiveWebhook(name, request),
    fork: (turn, label) =>
      store.sessions.fork(turn, label === undefined ? forkLabel(mintId()) : normalizeSessionKey(label)),
    getChildSessions: async (session) =>
      store.sessions.children((await findSession(session)).key, { limit: MAX_PAGE }),
    async getParentSession(session) {
      const { parentSession } = await findSession(session);
      return parentSession === undefined ? undefined : store.sessions.get(parentSession);
    },
    countChildSessions: async (session) => (await findSession(session)).children,
    async abort(session) {
      const found = await findSession(session);
      const reason = "the owner asked for it";
      const aborted = found.run !== undefined && (await store.runs.requestAbort(found.run, reason));
      // What a turn has given away that is over goes on without it, and is meant too.
      const cancelled = await store.delegations.cancel(found.key, reason);
      return aborted || cancelled > 0;
    },
    async answer(run, result, ordinal) {
      const found = await store.runs.get(run);
      if (found?.wait === undefined) return false;
      const { calls } = found.wait.detail as { calls: readonly { ordinal: number }[] };
      const call = ordinal === undefined ? calls[0] : calls.find((waiting) => waiting.ordinal === ordinal);
      if (call === undefined) return false;
      return store.runs.resume(run, found.wait.id, [
        {
          kind: "result",
          ordinal: call.ordinal,
          status: result.isError === true ? "error" : "ok",
          result: result as unknown as Json,
          completedAtMs: clock(),
        },
      ]);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** What a call that waits for a worker is told. The marks of the worker are the session's before its words are. */
async function readChild(
  detail: Json,
  { home, store }: { readonly home: string; readonly store: Store },
): Promise<ToolResult | undefined> {
  const { delegation: id, relay } = detail as { readonly delegation: DelegationId; readonly relay?: RelayId };
  if (relay !== undefined) return readRelayResult(relay, { home, store });
  const delegation = await store.delegations.get(id);
  if (delegation === undefined || delegation.state === "open") return undefined;
  if (delegation.reportedAtMs === undefined && delegation.state !== "cancelled")
    await store.delegations.report(id);
  return childResult(delegation, store);
}

/** For whoever queries the ledger: the configuration stays the authority. */
function keepPersonas(store: Store, config: Config): Promise<void> {
  const personas = Object.entries(config.personas).map(([id, { identity, permissions }]) => ({
    id: id as PersonaId,
    identity: identity as unknown as Json,
    permissions: permissions as unknown as Json,
    mainSession: findMainSession(id as PersonaId, config),
  }));
  return store.syncPersonas(personas);
}

function sessionUnknown(session: SessionKey): CortexError {
  return new CortexError("session_unknown", `No session is called "${session}"`, {
    hint: "`cortex sessions` lists the sessions there are.",
  });
}
