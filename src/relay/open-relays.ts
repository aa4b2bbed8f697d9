/** The open relays feature: runs the engine, watches the templates, and implements the `Relays` API. */
import { join } from "node:path";

import type { Ports } from "../feature/ports.ts";
import { count } from "../model/count.ts";
import { CortexError } from "../model/errors.ts";
import { DEFAULT_AGENT, isRelayId, type RelayId, type TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { present } from "../model/present.ts";
import type { WakeLoop } from "../model/wake-loop.ts";
import type { Listed, StoredRelay } from "../store/store.ts";
import { readArtifact, readKept, workspaceOf } from "./artifact/artifact.ts";
import { addTo } from "./engine/add-agent.ts";
import { dryRunRelay } from "./engine/dry-run.ts";
import type { EnginePorts } from "./engine/engine-ports.ts";
import { Engine } from "./engine/engine.ts";
import { recover } from "./engine/recover.ts";
import { archiveOld } from "./engine/retention.ts";
import { sayTo } from "./engine/say.ts";
import { activeAgent, agentUnknown, contentFor, findFolder, startRelay } from "./engine/start.ts";
import { finish, reopenRelay } from "./record/ending.ts";
import { type RelayDetail, toRecord, unknownRelay, updateRelay } from "./record/kept-relay.ts";
import { asShown } from "./record/phases.ts";
import { isTerminal, type RelayRecord } from "./record/record.ts";
import { keepTurn, viewTurn } from "./record/relay-of-turn.ts";
import { importThreads } from "./record/threads-file.ts";
import type {
  DryRun,
  RelayAddition,
  RelayListOptions,
  RelayRequest,
  Relays,
  RelaySaid,
  RelaySender,
} from "./relays.ts";
import { openChatProgress } from "./surface/chat-progress.ts";
import { ScriptProcesses } from "./scripts/script-processes.ts";
import { parseExtraHooks } from "./templates/resolve.ts";
import type { RelayConfig, SnapshotContent } from "./templates/snapshot.ts";
import { WatchedRelayConfig } from "./templates/watched-config.ts";

/** Recovers from the previous process before the engine starts. */
export async function openRelays(ports: Ports): Promise<OpenRelays> {
  const { store, home, clock, settings } = ports;
  const scripts = new ScriptProcesses(ports, join(home, "data", "relay-scripts.json"));
  await importOldRelays(ports);
  await scripts.endStrays();
  await archiveOld(store, home, clock());
  await recover(store, settings.config().relay.onRestart, clock);
  return new OpenRelays({ ...ports, run: scripts.runner(), extraScripts: new Map() });
}

async function importOldRelays({ store, home, clock, log }: Ports): Promise<void> {
  const imported = await importThreads(store, home, clock());
  if (imported === undefined) return;
  const { relays, skipped, problem } = imported;
  log(
    problem === undefined
      ? `Imported ${count(relays, "relay")} from threads.json; skipped ${count(skipped, "invalid entry", "invalid entries")}.`
      : `Importing relays from threads.json failed; the next start tries again: ${problem}`,
  );
}

export class OpenRelays implements Relays, AsyncDisposable {
  readonly #ports: Ports & EnginePorts;
  readonly #engine: Engine;
  readonly #progress: WakeLoop;
  readonly #watched: WatchedRelayConfig;

  constructor(ports: Ports & EnginePorts) {
    this.#ports = ports;
    this.#engine = new Engine(ports);
    this.#engine.start();
    this.#progress = openChatProgress(ports);
    this.#progress.start();
    this.#watched = new WatchedRelayConfig(ports);
  }

  /** Reads the templates again after their files or the profiles have changed. */
  filesChanged(files?: readonly string[]): void {
    this.#watched.lookAgain(files);
  }

  config(): Promise<RelayConfig> {
    return this.#watched.read();
  }

  async run(request: RelayRequest): Promise<RelayRecord> {
    const { settings, extraScripts } = this.#ports;
    if (request.profile !== undefined) settings.profile(request.profile);
    const dir = request.dir === undefined ? undefined : await findFolder(request.dir, this.#ports);
    const { extraHooks = request.extraScripts } = request;
    const scripts = extraHooks === undefined ? undefined : parseExtraHooks(extraHooks);
    const content = await this.#contentOf(request);
    return startRelay({ ...request, ...present({ dir }) }, content, this.#ports, (id) => {
      if (scripts !== undefined) extraScripts.set(id, scripts);
    });
  }

  async add({ id, turn, agent, message, delivery }: RelayAddition): Promise<RelayRecord> {
    const { store, clock } = this.#ports;
    const config = await this.config();
    if (!config.agents.has(agent) && id === undefined) throw agentUnknown(agent, config);
    const relay = id ?? (await keepTurn(requireTurn(turn), store));
    return updateRelay(relay, store, async (kept) => ({
      ...addTo(kept, { agent, ...(message === undefined ? {} : { message }) }, await this.config(), clock()),
      detail: wanted(kept.detail, delivery),
      stop: `${agent} continues the relay`, // stops the step that waits for an answer
    }));
  }

  async cancel(id: RelayId): Promise<boolean> {
    const { store, clock } = this.#ports;
    const cancelled = await updateRelay(id, store, ({ record }) => {
      const ended = finish(record, { stopReason: "cancelled" }, clock());
      return ended === record ? undefined : { record: ended, stop: "the relay was cancelled" };
    });
    if (cancelled === undefined) return false;
    this.#engine.interrupt(id);
    return true;
  }

  resume(id: RelayId): Promise<RelayRecord> {
    const { store, clock } = this.#ports;
    return updateRelay(id, store, ({ record, detail }) => ({
      record: reopenRelay(record, clock()),
      detail: wanted(detail),
    }));
  }

  say(id: RelayId, text: string, from?: RelaySender): Promise<RelaySaid> {
    return sayTo(id, text, from, this.#ports);
  }

  async get(id: RelayId | TurnId): Promise<RelayRecord | undefined> {
    const { store } = this.#ports;
    if (!isRelayId(id)) return viewTurn(id, store);
    const stored = await store.relays.get(id);
    return stored === undefined ? undefined : this.#show(stored);
  }

  async list({ running, ...options }: RelayListOptions = {}): Promise<Listed<RelayRecord>> {
    const states = running === true ? (["running", "waiting"] as const) : undefined;
    const page = await this.#ports.store.relays.list({
      ...options,
      ...(states === undefined ? {} : { states }),
    });
    return { items: await Promise.all(page.items.map((stored) => this.#show(stored))), next: page.next };
  }

  async artifact(id: RelayId, step?: number): Promise<string | undefined> {
    const { home } = this.#ports;
    const { steps } = await this.#require(id);
    if (step === undefined) {
      const read = await readArtifact(workspaceOf(home, id));
      if (read.kind === "read") return read.text;
    }
    const kept =
      step === undefined ? steps.findLast(({ artifactHash }) => artifactHash !== null) : steps[step - 1];
    const hash = kept?.artifactHash ?? null;
    return hash === null ? undefined : readKept(home, hash);
  }

  async dryRun(request: RelayRequest): Promise<DryRun> {
    return dryRunRelay(request, await this.#contentOf(request), this.#ports);
  }

  async ended(id: RelayId, signal: AbortSignal): Promise<RelayRecord | undefined> {
    for (;;) {
      const changed = nextChange(this.#ports, signal);
      const record = await this.#require(id);
      if (isTerminal(record)) return record;
      if (signal.aborted) return undefined;
      await changed;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]();
    await this.#progress[Symbol.asyncDispose]();
    await this.#watched[Symbol.asyncDispose]();
  }

  async #contentOf(request: RelayRequest): Promise<SnapshotContent> {
    const config = await this.config();
    const { session } = request.startedBy ?? {};
    const starter = session === undefined ? undefined : await this.#ports.store.sessions.get(session);
    return contentFor(request, config, activeAgent(starter?.agent ?? DEFAULT_AGENT, config));
  }

  async #require(id: RelayId): Promise<RelayRecord> {
    const stored = await this.#ports.store.relays.get(id);
    if (stored === undefined) throw unknownRelay(id);
    return this.#show(stored);
  }

  async #show(stored: StoredRelay): Promise<RelayRecord> {
    const rows = await this.#ports.store.relays.steps(stored.id);
    return asShown(toRecord(stored, rows), rows);
  }
}

/** Makes a relay wanted again, optionally with another place for its notices. */
function wanted(detail: RelayDetail, delivery?: Json): RelayDetail {
  const { unwanted: _, ...kept } = detail;
  return { ...kept, ...(delivery === undefined ? {} : { delivery }) };
}

/** How long the end of a relay may go unnoticed if its wake-up is lost. */
const POLL_MS = 1_000;

function nextChange({ store }: Ports, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, POLL_MS).unref();
  const unlisten = store.onWake("changes", resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    unlisten();
  });
}

function requireTurn(turn: TurnId | undefined): TurnId {
  if (turn !== undefined) return turn;
  throw new CortexError("request_invalid", "Missing relay or turn for the agent", {
    hint: "Pass the id of a relay or a turn.",
  });
}
