/**
 * The model's context of a session and the tokens of each part: for the running turn, else for the turn of the next
 * message. Assembled exactly like for a run; read-only.
 */
import { nameUnknown } from "../client/ledger.ts";
import type { ToolDescription } from "../agents/agent.ts";
import type { Config } from "../config/config.ts";
import type { Json } from "../model/json.ts";
import { allowsTool } from "../model/permissions.ts";
import type { Profile } from "../model/profile.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Tool } from "../model/tool.ts";
import { readWorker } from "../model/worker.ts";
import type { Setup } from "../personas/lookup.ts";
import { permissionsOf } from "../personas/permissions.ts";
import { type Skills, skillsOf } from "../personas/skills.ts";
import { originView } from "../feature/views.ts";
import type { Journal, KeptOrigin, Ledger, QueueItem, StoredSession } from "../store/store.ts";
import { asWorker, hasTool, narrowedAs, narrowedBy, setupOf } from "../turns/setup.ts";
import { CONTEXT_KINDS, type ContextPart, explainContext } from "../turns/context.ts";
import type { Pinned } from "../turns/journal.ts";
import { FULL_SHARE } from "../turns/make-room.ts";
import { isPartial, measure, readThread } from "../turns/thread.ts";
import { toQuery } from "../turns/query.ts";
import { assembleSystem, type SystemPrompt } from "../turns/system-prompt.ts";

export interface ContextInput {
  readonly ledger: Pick<Ledger, "sessions" | "queue" | "runs" | "turns">;
  readonly home: string;
  readonly config: Config;
  /** Looks up a profile by name, `__active__` included. */
  readonly profile: (name: string) => Profile;
  /** The context window of a profile's model, in tokens. Undefined: unknown. */
  readonly window: (profile: Profile) => Promise<number | undefined>;
  readonly tools: readonly (ToolDescription & Pick<Tool, "isReserved" | "guidance">)[];
}

export type ContextView = ReturnType<typeof contextView>;

interface ContextReading {
  readonly session: StoredSession;
  readonly profile: Profile;
  readonly window: number | undefined;
  readonly parts: readonly ContextPart[];
  readonly origins: readonly KeptOrigin[];
  /** Tokens, partly as counted by the provider. */
  readonly counted: number;
  readonly isLong: boolean;
  readonly skills: Skills;
}

/** Throws `session_unknown`, or an error of the agent or its profile. */
export async function readContext(key: SessionKey, sources: ContextInput): Promise<ContextReading> {
  const { ledger, home, config } = sources;
  const session = await ledger.sessions.get(key);
  if (session === undefined) throw nameUnknown(key);
  const worker = readWorker(session.worker);
  const setup = asWorker(setupOf(config, session, worker), worker);
  const { items, journal } = await readCurrent(session, ledger);
  const pinned = journal?.pinned as Pinned | undefined;
  const profile = sources.profile(
    pinned?.profile ?? wished(items, session) ?? worker?.profile ?? setup.agent.profile,
  );
  const [window, skills] = await Promise.all([sources.window(profile), skillsOf(setup, { home, config })]);
  const narrowed = [...narrowedAs(worker), ...narrowedBy(items)];
  const had = sources.tools.filter((tool) => hasTool(worker, tool));
  const tools = toolsFor(setup, narrowed, pinned, had);
  const [thread, system] = await Promise.all([
    readThread(session.head, ledger, window),
    assembleSystem(setup, {
      workspace: setup.agent.workspace,
      tools,
      skills: skills.skills,
      duty: worker?.duty,
      window,
    }),
  ]);
  const messages =
    journal !== undefined && journal.messages.length > 0
      ? journal.messages
      : items.map((item) => toQuery(item, config.timezone));
  const current = { messages, toolCalls: journal?.toolCalls ?? [] };
  const given = { tools, thread, current };
  const used = pinned === undefined ? system : asPinned(pinned.system, system);
  const origins = await ledger.sessions.labelOrigins(key);
  const load = measure({ ...given, system: used.text });
  return {
    session,
    profile,
    window,
    parts: explainContext({ ...given, system: used }),
    origins,
    counted: load.tokens,
    isLong: isPartial(thread) || (window !== undefined && load.tokens > window * FULL_SHARE),
    skills,
  };
}

interface Current {
  readonly items: readonly QueueItem[];
  readonly journal?: Journal;
}

/** The running turn, else the next message. */
async function readCurrent({ key, run }: StoredSession, ledger: ContextInput["ledger"]): Promise<Current> {
  const running = run === undefined ? undefined : await ledger.runs.get(run);
  if (running === undefined) return { items: await ledger.queue.pending(key, { limit: 1 }) };
  const [items, journal] = await Promise.all([
    ledger.queue.itemsOf(running.turn),
    ledger.runs.readJournal(running.id),
  ]);
  return { items, journal };
}

function wished(items: readonly QueueItem[], { settings }: StoredSession): string | undefined {
  const dispatches = items.flatMap((item) => item.dispatches);
  const ofSession = settings["profile"];
  return (
    dispatches.find(({ profile }) => profile !== undefined)?.profile ??
    (typeof ofSession === "string" ? ofSession : undefined)
  );
}

function toolsFor(
  setup: Setup,
  narrowed: readonly Json[],
  pinned: Pinned | undefined,
  tools: readonly ToolDescription[],
): readonly ToolDescription[] {
  const granted = permissionsOf(setup, narrowed);
  const allowed = tools.filter(({ name }) => allowsTool(granted, name));
  return pinned === undefined ? allowed : allowed.filter(({ name }) => pinned.tools.includes(name));
}

/** A run keeps its initial prompt. If the prompt would differ now, its parts are unknown. */
function asPinned(text: string, now: SystemPrompt): SystemPrompt {
  return text === now.text ? now : { text, parts: [{ name: "as this turn began", text }] };
}

interface PartView extends Pick<ContextPart, "kind" | "name" | "tokens"> {
  readonly turnId: string | null;
  readonly note: string | null;
  readonly text?: string;
}

const MAX_NAME_LENGTH = 80;

/** Used by the HTTP API and `--json`. With `full`, includes the texts. */
export function contextView(reading: ContextReading, { full }: { readonly full: boolean }) {
  const { session, profile, window, parts, origins, counted, isLong, skills } = reading;
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  return {
    session: session.key,
    agent: session.agent,
    persona: session.persona,
    profile: profile.name,
    model: profile.model ?? null,
    /** Null: unknown. */
    window: window ?? null,
    /** The sum of the parts. */
    tokens,
    /** The same, with the provider's count for all but the end. */
    counted,
    /** Whether the context is compacted before the next model call. */
    compactionDue: isLong,
    sums: CONTEXT_KINDS.map((kind) => ({
      kind,
      tokens: parts.filter((part) => part.kind === kind).reduce((sum, part) => sum + part.tokens, 0),
    })),
    parts: full ? parts.map(fullPartView) : parts.map(partView),
    labels: origins.map(originView),
    problems: skills.problems.map(({ path, problem, isLeftOut }) => ({ path, problem, isLeftOut })),
  };
}

function partView({ kind, name, turn, note, tokens }: ContextPart): PartView {
  return { kind, name: firstWords(name), turnId: turn ?? null, tokens, note: note ?? null };
}

function fullPartView(part: ContextPart): PartView {
  return { ...partView(part), text: part.text() };
}

function firstWords(text: string): string {
  const line = text
    .slice(0, 4 * MAX_NAME_LENGTH)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length <= MAX_NAME_LENGTH ? line : `${line.slice(0, MAX_NAME_LENGTH - 1).toWellFormed()}…`;
}
