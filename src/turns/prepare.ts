/**
 * Reads everything that one run works with: who works, what they may do, which model answers, what it is told, and the
 * journal. A resumed run gets what its first attempt was started with.
 */
import assert from "node:assert/strict";
import { dirname } from "node:path";

import type { Exchange } from "../agents/agent.ts";
import type { PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { allowsTool, type Permissions } from "../model/permissions.ts";
import type { Principal } from "../model/principal.ts";
import type { Profile } from "../model/profile.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Tool } from "../model/tool.ts";
import { type Label, parseTrust } from "../model/trust.ts";
import { readWorker, type Worker } from "../model/worker.ts";
import type { Setup } from "../personas/lookup.ts";
import { delegableBy, permissionsOf } from "../personas/permissions.ts";
import { FileLabels } from "../personas/file-labels.ts";
import { foreignFolders } from "../personas/foreign-folders.ts";
import { identityFilesFor } from "../personas/identity-files.ts";
import { type Skill, skillsOf } from "../personas/skills.ts";
import type { Claim, Context, Journal, QueueItem, Store, StoredSession } from "../store/store.ts";
import { audienceOfTurn, confinedTo, outsideAudience, principalOfTurn } from "./audience.ts";
import { type Candidates, chooseProfile, fallbackChain, healthFor, whyFallback } from "./choose-profile.ts";
import { type Pinned, TurnJournal } from "./journal.ts";
import { nextStretch, type Worked } from "./limits.ts";
import { labelOfOwnersWords } from "./owner-words.ts";
import { attachedFiles, makeQuery } from "./query.ts";
import {
  agentFolders,
  asWorker,
  hasTool,
  labelsOfMessages,
  labelSession,
  narrowedAs,
  narrowedBy,
  setupOf,
} from "./setup.ts";
import { WorkLabels } from "./run-labels.ts";
import { assembleSystem, labelOfPrompt } from "./system-prompt.ts";
import { historyOf, readThread } from "./thread.ts";
import type { TurnFolders, TurnPorts } from "./turn-ports.ts";

/** Agents can read the files of this many earlier messages: each file is opened to the sandbox by name. */
const MAX_MESSAGES_WITH_FILES = 100;

/** Everything that one run works with. */
export interface RunWork {
  readonly claim: Claim;
  readonly setup: Setup;
  /** What its session was given as a worker's. Undefined: it is not a worker. */
  readonly worker: Worker | undefined;
  readonly parentSession: SessionKey | undefined;
  /** Of the session: its budget is charged. */
  readonly persona: PersonaId;
  /** On whose authority it runs: their budget is charged, too. */
  readonly principal: Principal;
  /** As they are now: the configuration may have changed since the turn began. */
  readonly permissions: () => Permissions;
  /** What its workers may do at most. */
  readonly delegable: () => Permissions;
  readonly folders: TurnFolders;
  /** The profile of this run. */
  readonly profile: Profile;
  readonly candidates: Candidates;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly skills: readonly Skill[];
  readonly system: string;
  readonly thread: Context;
  readonly history: readonly Exchange[];
  readonly journal: TurnJournal;
  /** The files that came with earlier messages of its thread. */
  readonly attachedBefore: readonly string[];
  /** The messages that the turn answers; messages that join it later are added. */
  readonly items: QueueItem[];
  /** The labels of files, and on whose authority the run writes some. */
  readonly labels: WorkLabels;
  readonly worked: Worked;
}

/** What the store and the configuration say about a claimed turn. */
interface Assignment extends Pick<RunWork, "claim" | "setup" | "worker" | "folders" | "items"> {
  readonly session: StoredSession;
  /** The journal of the attempts before. Undefined: it is empty. */
  readonly before: Journal | undefined;
  readonly pinned: Pinned | undefined;
}

export async function prepareRun(claim: Claim, ports: TurnPorts): Promise<RunWork> {
  const nowMs = ports.clock();
  const assignment = await readAssignment(claim, ports);
  const { session, setup, worker, folders, items, before, pinned } = assignment;
  const narrowed = [...narrowedAs(worker), ...narrowedBy(items)];
  const current = (): Setup => setupOf(ports.settings.config(), session, worker);
  const permissions = (): Permissions => permissionsOf(current(), narrowed);
  const tools = await grantedTools(permissions(), assignment, ports);
  const { candidates, profile, fallback } = choose(assignment, ports);
  const labels = workLabels(assignment, ports);
  const { thread, window, system, skills, attachedBefore, label } = await readContext(
    assignment,
    { profile, tools, files: labels.files },
    ports,
  );
  const { outward: _, ...duty } = parseTrust(dutyFor(assignment)?.label);
  const { turn } = claim;
  const sources = [
    ...labelsOfMessages(items, turn),
    { label, origin: { turn, part: "prompt" } as const },
    { label: duty, origin: { turn, part: "duty" } as const },
    ...(await labelOfOwnersWords(claim, assignment, ports.store)),
  ];
  await labelSession(session.key, sources, ports.store);
  const worked = nextStretch(before ?? { messages: [], toolCalls: [] }, pinned, nowMs);
  // A run that has only compacted its thread has no message in its journal.
  const written = before?.messages.length ?? 0;
  const remembers = setup.agent.memory !== false;
  const coordinates = worker?.coordinates === true;
  const { key, channel } = session;
  const query = { session: key, turn, channel, items, thread, window, remembers, coordinates };
  const journal = new TurnJournal({
    store: ports.store,
    claim,
    pinned: {
      ...(pinned ?? { system, tools: tools.map(({ name }) => name), profile: candidates[0].name }),
      fallback: fallback ?? null,
      worked,
    },
    messages: before !== undefined && written > 0 ? before.messages : await makeQuery(query, ports),
    toolCalls: before?.toolCalls ?? [],
    written,
  });
  // Now, so that others can read it during the run; another attempt starts with what the one before it had.
  if (fallback !== undefined || claim.attempt > 1) await journal.pin();
  return {
    claim,
    setup,
    worker,
    parentSession: session.parentSession,
    persona: session.persona,
    principal: labels.writer.principal,
    permissions,
    delegable: () => delegableBy(current(), narrowed),
    folders,
    profile,
    candidates,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    skills,
    system,
    thread,
    history: historyOf(thread),
    journal,
    attachedBefore,
    items,
    labels,
    worked,
  };
}

function workLabels(
  { claim, setup, folders, items }: Assignment,
  { home, store, settings, features }: TurnPorts,
): WorkLabels {
  const worker = { ...setup.agent, workspace: folders.workspace };
  const files = new FileLabels({
    labels: store.labels,
    home,
    shared: () => features.sharedFolders(),
    foreign: foreignFolders(home, settings.config(), [worker]),
    outputs: dirname(folders.outputFolder),
  });
  const principal = principalOfTurn(items);
  return new WorkLabels(files, { principal, audience: audienceOfTurn(items), turn: claim.turn });
}

async function readAssignment(claim: Claim, { home, store, settings }: TurnPorts): Promise<Assignment> {
  const config = settings.config();
  const [session, items, before] = await Promise.all([
    store.sessions.get(claim.lease.session),
    store.queue.itemsOf(claim.turn),
    claim.journalled ? store.runs.readJournal(claim.run) : undefined,
  ]);
  assert(session !== undefined);
  const worker = readWorker(session.worker);
  const setup = asWorker(setupOf(config, session, worker), worker);
  const folders = closing(await agentFolders(home, setup), [
    worker,
    ...(session.parentSession === undefined ? [] : await ancestorsOf(session.key, store)),
  ]);
  return {
    claim,
    session,
    items,
    before,
    worker,
    setup,
    folders,
    pinned: before?.pinned as Pinned | undefined,
  };
}

async function ancestorsOf(session: SessionKey, { sessions }: Store): Promise<(Worker | undefined)[]> {
  return (await sessions.ancestors(session)).map((ancestor) => readWorker(ancestor.worker));
}

function closing(folders: TurnFolders, workers: readonly (Worker | undefined)[]): TurnFolders {
  const closed = workers.flatMap((worker) => worker?.hidden ?? []);
  return closed.length === 0 ? folders : { ...folders, hidden: [...folders.hidden, ...closed] };
}

/** In the order in which all tools are listed: the model's prompt cache depends on it. */
async function grantedTools(
  granted: Permissions,
  { worker, pinned }: Assignment,
  ports: TurnPorts,
): Promise<readonly Tool[]> {
  const tools = (await ports.tools()).filter(
    (tool) => allowsTool(granted, tool.name) && hasTool(worker, tool),
  );
  return pinned === undefined ? tools : tools.filter(({ name }) => pinned.tools.includes(name));
}

interface Choice extends Pick<RunWork, "candidates" | "profile"> {
  /** Why the profile is a fallback. Undefined: it is not. */
  readonly fallback: string | undefined;
}

function choose(
  { claim, session, setup, worker, items, pinned }: Assignment,
  { settings, coolDowns }: TurnPorts,
): Choice {
  const name =
    pinned?.profile ?? requestedProfile(items, session.settings) ?? worker?.profile ?? setup.agent.profile;
  const candidates = fallbackChain(settings.profile(name), (other) => settings.profile(other));
  const profile = chooseProfile(candidates, healthFor(claim.turn, coolDowns));
  return { candidates, profile, fallback: whyFallback(profile, candidates, coolDowns) };
}

/** The message's own request, else the session's. */
function requestedProfile(items: readonly QueueItem[], settings: Journal["pinned"]): string | undefined {
  const requested = items
    .flatMap(({ dispatches }) => dispatches)
    .find(({ profile }) => profile !== undefined)?.profile;
  return requested ?? (settings as { profile?: string } | undefined)?.profile;
}

interface PromptContext extends Pick<RunWork, "thread" | "system" | "skills" | "attachedBefore"> {
  readonly window: number | undefined;
  /** Of the files in the system prompt. */
  readonly label: Label;
}

async function readContext(
  { claim, setup, worker, folders, items, pinned }: Assignment,
  {
    profile,
    tools,
    files,
  }: { readonly profile: Profile; readonly tools: readonly Tool[]; readonly files: FileLabels },
  { home, settings, agentFolders, log, store, windowOf }: TurnPorts,
): Promise<PromptContext> {
  const trust = { home, config: settings.config(), agentFolders, log };
  const [window, { skills }] = await Promise.all([windowOf(profile), skillsOf(setup, trust)]);
  const { workspace } = folders;
  const duty = dutyFor({ worker, items });
  const identity = await identityFilesFor(confinedTo(items, setup.persona), workspace, files);
  const assemble = async (): Promise<string> => {
    const content = { workspace, identity, tools, skills, window, duty: duty?.text };
    return (await assembleSystem(setup, content)).text;
  };
  const [thread, system, attached, label] = await Promise.all([
    readThread(wantsHistory(items) ? claim.parent : undefined, store, window),
    pinned?.system ?? assemble(),
    claim.parent === undefined ? [] : store.turns.attached(claim.parent, { limit: MAX_MESSAGES_WITH_FILES }),
    labelOfPrompt({ setup, workspace, identity, tools, skills }, files),
  ]);
  return { thread, window, system, skills, attachedBefore: attached.flatMap(attachedFiles), label };
}

/** The description of its job quotes notes of the owner's, which are not for others to hear. */
function dutyFor({ worker, items }: Pick<Assignment, "worker" | "items">) {
  const isOthers = outsideAudience(items) !== undefined;
  return isOthers ? undefined : { text: worker?.duty, label: worker?.dutyLabel };
}

/** A hook can ask for a turn that does not see the history. */
function wantsHistory(items: readonly QueueItem[]): boolean {
  return !items.some(({ dispatches }) =>
    dispatches.some(({ context }) => (context as { includeHistory?: Json } | null)?.includeHistory === false),
  );
}
