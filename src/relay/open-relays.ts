/** Relays, opened: the engine at work, the templates watched, and what people and agents may do to a relay. */
import { endStrays } from "../agents/process/strays.ts";
import { count } from "../model/count.ts";
import { CortexError } from "../model/errors.ts";
import { DEFAULT_AGENT, isRelayId, type RelayId, type TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { readArtifact, readKept, workspaceOf } from "./artifact/artifact.ts";
import { asksMessage } from "./engine/build-prompt.ts";
import { dryRunRelay } from "./engine/dry-run.ts";
import { Engine } from "./engine/engine.ts";
import { recover } from "./engine/recover.ts";
import { archiveOld } from "./engine/retention.ts";
import { sayTo } from "./engine/say.ts";
import { activeAgent, agentUnknown, checkFolder, contentFor, slotOf, startRelay } from "./engine/start.ts";
import { addAgent, finish, resume } from "./record/ending.ts";
import {
  type KeptRelay,
  type RelayDetail,
  relayUnknown,
  toRecord,
  updateRelay,
} from "./record/kept-relay.ts";
import { addPending } from "./record/pending-messages.ts";
import { asShown } from "./record/phases.ts";
import { isTerminal, type RelayRecord } from "./record/record.ts";
import { keepTurn, viewTurn } from "./record/relay-of-turn.ts";
import { importThreads } from "./record/threads-file.ts";
import { relayParts, relayScriptsFile } from "./relay-parts.ts";
import type { Ports } from "../feature/ports.ts";
import type { RelayRequest, Relays } from "./relays.ts";
import { resolveStage } from "./templates/endpoint.ts";
import { parseExtraHooks } from "./templates/resolve.ts";
import { agentIn, type RelayConfig, type RelayScripts, takeSnapshot } from "./templates/snapshot.ts";
import { WatchedRelayConfig } from "./templates/watched-config.ts";
import type { StoredRelay } from "../store/store.ts";

export async function openRelays(ports: Ports): Promise<Relays> {
  const { store, home, clock, settings, log } = ports;
  const extras = new Map<RelayId, RelayScripts>();
  const parts = relayParts(ports, {
    extraScripts: (id) => extras.get(id),
    onEnded: (id) => void extras.delete(id),
  });
  const engine = new Engine(parts);
  const imported = await importThreads(store, home, clock());
  if (imported?.problem !== undefined)
    log(`No relays were taken over from threads.json for now: ${imported.problem}`);
  else if (imported !== undefined)
    log(
      `${count(imported.relays, "relay was", "relays were")} taken over from threads.json, ${count(imported.skipped, "invalid entry was", "invalid entries were")} skipped.`,
    );
  await endStrays(relayScriptsFile(home), log);
  await archiveOld(store, home, clock());
  await recover(store, settings.config().relay.onRestart, clock);
  engine.start();
  const watched = new WatchedRelayConfig(ports);
  const config = (): Promise<RelayConfig> => watched.read();

  async function contentOf(request: RelayRequest) {
    const known = await config();
    const { session } = request.startedBy ?? {};
    const running = session === undefined ? undefined : await store.sessions.get(session);
    return contentFor(request, known, activeAgent(running?.agent ?? DEFAULT_AGENT, known));
  }

  async function show(stored: StoredRelay): Promise<RelayRecord> {
    const rows = await store.relays.steps(stored.id);
    return asShown(toRecord(stored, rows), rows);
  }

  async function shown(id: RelayId): Promise<RelayRecord> {
    const stored = await store.relays.get(id);
    if (stored === undefined) throw relayUnknown(id);
    return show(stored);
  }

  async function extend(relay: KeptRelay, name: string, message: string | undefined) {
    const known = await config();
    const isTemplates = relay.content.template?.agents.some((agent) => agent.name === name) === true;
    const agent = (isTemplates ? agentIn(relay.content, name) : undefined) ?? known.agents.get(name);
    if (agent === undefined) throw agentUnknown(name, known);
    const others = relay.content.added.filter((added) => added.name !== name);
    const content = isTemplates ? relay.content : { ...relay.content, added: [...others, agent] };
    const snapshot = takeSnapshot(content);
    // Of several steps that run side by side, some may be at work: they are not to be ended.
    const isAtWork = relay.rows.some(({ state, wait }) => state === "running" && wait === undefined);
    const shown = isAtWork ? relay.record : asShown(relay.record, relay.rows);
    const stage = resolveStage(agent, null);
    const isAsked = message === undefined || asksMessage({ agent, stage, isAdHoc: !isTemplates });
    const record = addAgent(
      isAsked ? shown : addPending(shown, message),
      {
        slot: slotOf(agent),
        stage,
        configHash: snapshot.hash,
        ...(message === undefined || !isAsked ? {} : { message }),
      },
      clock(),
    );
    return { record, config: snapshot };
  }

  return {
    start: async () => {},
    config,
    lookAgain: (files) => watched.lookAgain(files),

    async run(request) {
      if (request.profile !== undefined) settings.profile(request.profile);
      if (request.dir !== undefined) checkFolder(request.dir);
      const { extraHooks = request.extraScripts } = request;
      const scripts = extraHooks === undefined ? undefined : parseExtraHooks(extraHooks);
      const content = await contentOf(request);
      return startRelay(request, content, {
        store,
        home,
        clock,
        onId: (id) => void (scripts !== undefined && extras.set(id, scripts)),
      });
    },

    async add({ id, turn, agent, message, delivery }) {
      const known = await config();
      if (!known.agents.has(agent) && id === undefined) throw agentUnknown(agent, known);
      const relay = id ?? (await keepTurn(requireTurn(turn), store));
      const record = await updateRelay(relay, store, async (kept) => ({
        ...(await extend(kept, agent, message)),
        detail: wanted(kept.detail, delivery),
        // The step that waits for an answer is not waited for any more.
        stop: `${agent} goes on with the relay`,
      }));
      return record!;
    },

    async cancel(id) {
      const cancelled = await updateRelay(id, store, ({ record }) => {
        const ended = finish(record, { stopReason: "cancelled" }, clock());
        return ended === record ? undefined : { record: ended, stop: "the relay was cancelled" };
      });
      if (cancelled === undefined) return false;
      engine.interrupt(id);
      return true;
    },

    async resume(id) {
      const record = await updateRelay(id, store, (relay) => ({
        record: resume(relay.record, clock()),
        detail: wanted(relay.detail),
      }));
      return record!;
    },

    say: (id, text, from) => sayTo(id, text, from, { store }),

    async get(id) {
      if (!isRelayId(id)) return viewTurn(id, store);
      const stored = await store.relays.get(id);
      return stored === undefined ? undefined : show(stored);
    },

    async list({ running, ...options } = {}) {
      const states = running === true ? (["running", "waiting"] as const) : undefined;
      const page = await store.relays.list({ ...options, ...(states === undefined ? {} : { states }) });
      return { items: await Promise.all(page.items.map(show)), next: page.next };
    },

    async artifact(id, step) {
      const record = await shown(id);
      if (step === undefined) {
        const read = await readArtifact(workspaceOf(home, id));
        if (read.kind === "read") return read.text;
      }
      const last =
        step === undefined
          ? record.steps.findLast((each) => each.artifactHash !== null)
          : record.steps[step - 1];
      return typeof last?.artifactHash === "string" ? readKept(home, last.artifactHash) : undefined;
    },

    async dryRun(request) {
      return dryRunRelay(request, await contentOf(request), ports);
    },

    async ended(id, signal) {
      for (;;) {
        const changed = nextChange(ports, signal);
        const record = await shown(id);
        if (isTerminal(record)) return record;
        if (signal.aborted) return undefined;
        await changed;
      }
    },

    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await watched[Symbol.asyncDispose]();
    },
  };
}

/** Somebody wants it again, and perhaps to be told elsewhere. */
function wanted(detail: RelayDetail, delivery?: Json): Json {
  const { unwanted: _, ...kept } = detail;
  return { ...kept, ...(delivery === undefined ? {} : { delivery }) };
}

/** Wake-ups can be lost; this is how long the end of a relay then goes unnoticed. */
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
  throw new CortexError("request_invalid", "Nothing is named that the agent is to be added to", {
    hint: "Give the id of a relay, or of a turn.",
  });
}
