import type { Exchange } from "../agents/agent.ts";
import type { Config } from "../config/config.ts";
import type { PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Message } from "../model/message.ts";
import { allowsTool, type Permissions } from "../model/permissions.ts";
import type { Profile } from "../model/profile.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Tool } from "../model/tool.ts";
import { readWorker, type Worker } from "../model/worker.ts";
import { authorityOf } from "../personas/authority.ts";
import type { Setup } from "../personas/lookup.ts";
import { delegableBy, permissionsOf } from "../personas/permissions.ts";
import type { Skill } from "../personas/skills.ts";
import type { Claim, Context, Journal, QueueItem, SearchHit, SearchOptions, Store } from "../store/store.ts";
import { chooseProfile, fallbackChain } from "./choose-profile.ts";
import { healthFor, whyFallback } from "./fall-back.ts";
import { TurnJournal, type Pinned } from "./journal.ts";
import { remember } from "./memory.ts";
import { toQuery } from "./query.ts";
import { isConversationStart, withSituation } from "./situation.ts";
import { assembleSystem, type SystemSources } from "./system-prompt.ts";
import { historyOf, readThread } from "./thread.ts";
import { isByOthers, narrowedBy, markSession } from "./untrusted.ts";
import { asWorker, hasTool, narrowedAs, setupOf } from "./as-worker.ts";
import { attachedFiles } from "./attachments.ts";
import type { Folders, TurnPorts } from "./turn-ports.ts";
import { nextStretch, type Worked } from "./worked.ts";

/** The files of so many earlier messages can be read, the last ones of the thread: each is opened to the sandbox by name. */
const MAX_MESSAGES_WITH_FILES = 100;

/** Everything that one run works with. */
export interface Work {
  readonly claim: Claim;
  readonly setup: Setup;
  /** What its session was given as a worker's. Undefined: it is none. */
  readonly worker: Worker | undefined;
  readonly parentSession: SessionKey | undefined;
  /** Of the session: what is spent is counted by it. */
  readonly persona: PersonaId;
  /** As they are now: the configuration may have changed since the turn began. */
  readonly permissions: () => Permissions;
  /** What its workers may do at most. */
  readonly delegable: () => Permissions;
  readonly folders: Folders;
  /** The one that this run uses. */
  readonly profile: Profile;
  /** The one that was wished for, and all that it can fall back on. */
  readonly candidates: readonly Profile[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly skills: readonly Skill[];
  readonly system: string;
  readonly thread: Context;
  readonly history: readonly Exchange[];
  readonly journal: TurnJournal;
  /** The files that came with earlier messages of its thread. */
  readonly attachedBefore: readonly string[];
  /** The messages that the turn answers; those that join it on the way are added. */
  readonly items: QueueItem[];
  readonly worked: Worked;
}

/** Reads what a run works with. A run that is taken up again gets what the first one was started with. */
export async function prepareRun(claim: Claim, parts: TurnPorts): Promise<Work> {
  const { store } = parts;
  const config = parts.settings.config();
  const nowMs = parts.clock();
  const [session, items, before] = await Promise.all([
    store.sessions.get(claim.lease.session),
    store.queue.itemsOf(claim.turn),
    claim.journalled ? store.runs.readJournal(claim.run) : undefined,
  ]);
  const worker = readWorker(session!.worker);
  const setup = asWorker(setupOf(config, session!, worker), worker);
  const folders = closing(await parts.folders(setup), [
    worker,
    ...(session!.parentSession === undefined ? [] : await ancestorsOf(session!.key, store)),
  ]);
  const pinned = before?.pinned as Pinned | undefined;

  const narrowed = [...narrowedAs(worker), ...narrowedBy(items)];
  const current = (): Setup => setupOf(parts.settings.config(), session!, worker);
  const permissions = (): Permissions => permissionsOf(current(), narrowed);
  const delegable = (): Permissions => delegableBy(current(), narrowed);
  if (isByOthers(items)) await markSession(claim.lease.session, ["untrusted"], store);
  const granted = permissions();
  const allowed = (await parts.tools()).filter(
    (tool) => allowsTool(granted, tool.name) && hasTool(worker, tool),
  );
  const tools = pinned === undefined ? allowed : allowed.filter(({ name }) => pinned.tools.includes(name));
  const wished = parts.settings.profile(
    pinned?.profile ?? wishedProfile(items, session!.settings) ?? worker?.profile ?? setup.agent.profile,
  );
  const candidates = fallbackChain(wished, (name) => parts.settings.profile(name));
  const profile = chooseProfile(candidates, healthFor(claim.turn, parts.coolDowns));
  const fallback = whyFallback(profile, candidates, parts.coolDowns);
  const [window, skills] = await Promise.all([parts.window(profile), parts.skills(setup)]);
  const sources = {
    workspace: folders.workspace,
    tools,
    skills,
    window,
    duty: worker?.duty,
  };
  const [thread, system, attached] = await Promise.all([
    wantsHistory(items) ? readThread(claim.parent, store, window) : NO_HISTORY,
    pinned?.system ?? assemble(setup, sources),
    claim.parent === undefined ? [] : store.turns.attached(claim.parent, { limit: MAX_MESSAGES_WITH_FILES }),
  ]);
  // A run that has only compacted its thread has got on, and has no message in its journal.
  const written = before?.messages.length ?? 0;
  const worked = nextStretch(before ?? { messages: [], toolCalls: [] }, pinned, nowMs);
  const journal = new TurnJournal({
    store,
    claim,
    pinned: {
      ...(pinned ?? { system, tools: tools.map(({ name }) => name), profile: wished.name }),
      fallback: fallback ?? null,
      worked,
    },
    messages:
      written > 0
        ? before!.messages
        : await makeQuery(items, { setup, worker, thread, window }, claim, parts),
    toolCalls: before?.toolCalls ?? [],
    written,
  });
  // At once, so that whoever asks sees it while the run is at work; an attempt begins with what the one before it had.
  if (fallback !== undefined || claim.attempt > 1) await journal.pin();
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const history = historyOf(thread);
  return {
    claim,
    setup,
    worker,
    parentSession: session!.parentSession,
    persona: session!.persona,
    permissions,
    delegable,
    folders,
    profile,
    candidates,
    tools: byName,
    skills,
    system,
    thread,
    history,
    journal,
    attachedBefore: attached.flatMap(attachedFiles),
    items,
    worked,
  };
}

async function ancestorsOf(session: SessionKey, { sessions }: Store): Promise<(Worker | undefined)[]> {
  return (await sessions.ancestors(session)).map((ancestor) => readWorker(ancestor.worker));
}

function closing(folders: Folders, workers: readonly (Worker | undefined)[]): Folders {
  const closed = workers.flatMap((worker) => worker?.hidden ?? []);
  return closed.length === 0 ? folders : { ...folders, hidden: [...folders.hidden, ...closed] };
}

const NO_HISTORY: Context = { compaction: undefined, turns: [] };

/** A hook can ask for a turn that is read without what was said before. */
function wantsHistory(items: readonly QueueItem[]): boolean {
  return !items.some(({ dispatches }) =>
    dispatches.some(({ context }) => (context as { includeHistory?: Json } | null)?.includeHistory === false),
  );
}

async function assemble(setup: Setup, sources: SystemSources): Promise<string> {
  return (await assembleSystem(setup, sources)).text;
}

/**
 * What the turn answers, with what the ledger holds about it: for the owner's own turns, and of the owner's own words. Who
 * coordinates a team is told how that stands.
 */
async function makeQuery(
  items: readonly QueueItem[],
  known: {
    readonly setup: Setup;
    readonly worker: Worker | undefined;
    readonly thread: Context;
    readonly window: number | undefined;
  },
  { lease }: Claim,
  parts: TurnPorts,
): Promise<readonly Message[]> {
  const { store, settings } = parts;
  const { timezone, memory } = settings.config();
  const said = items.map((item) => toQuery(item, timezone));
  if (isByOthers(items)) return said;
  const query = known.worker?.coordinates === true ? await tellSituation(said, known, lease, parts) : said;
  if (known.setup.agent.memory === false || memory.tokens === 0) return query;
  const search = async (text: string, options: SearchOptions): Promise<SearchHit[]> =>
    (await store.events.search(text, options)).filter((hit) => isOwners(hit, settings.config()));
  const { thread, window } = known;
  const remembered = await remember(query, { search, items, thread, window, ...memory });
  await markSession(lease.session, remembered.marks, store);
  return remembered.query;
}

/** Whether something that was found is the owner's own words. */
function isOwners({ channel, sender }: SearchHit, config: Config): boolean {
  return authorityOf({ channel, ...(sender === undefined ? {} : { sender }) }, config) === "owner";
}

/** What members have written is in it. */
async function tellSituation(
  query: readonly Message[],
  { thread }: { readonly thread: Context },
  { session }: Claim["lease"],
  { store, clock, features }: TurnPorts,
): Promise<readonly Message[]> {
  const [first, ...others] = query;
  if (first === undefined || !isConversationStart(thread, clock())) return query;
  const text = await features.situation();
  if (text === undefined) return query;
  await markSession(session, ["untrusted", "private"], store);
  return [withSituation(first, text), ...others];
}

/** The message's own wish, else the session's. */
function wishedProfile(items: readonly QueueItem[], settings: Journal["pinned"]): string | undefined {
  const wished = items
    .flatMap(({ dispatches }) => dispatches)
    .find(({ profile }) => profile !== undefined)?.profile;
  return wished ?? (settings as { profile?: string } | undefined)?.profile;
}
