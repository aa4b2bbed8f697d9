/**
 * Carries out a turn that was claimed: lets the agent work on its context, and settles it as committed,
 * aborted, suspended, failed, or left for whoever comes next.
 *
 * Nothing is remembered from one run to the next. A run that was cut off is taken up with what its journal
 * holds, by the same code that begins a new one.
 */
import type { Agent, AgentResult, Continuation } from "../agents/agent.ts";
import { dayStart } from "../model/day.ts";
import { CortexError } from "../model/errors.ts";
import type { Stage } from "../model/spans.ts";
import { WakeLoop } from "../model/wake-loop.ts";
import { type Claim, type LeaseRequest, MAX_PAGE, type QueueItem, type Store } from "../store/store.ts";
import { callParts } from "./call-parts.ts";
import { callTool } from "./call-tool.ts";
import { noteFailure } from "./fall-back.ts";
import { joinWaiting, tryTaking, withoutTurns } from "./join-waiting.ts";
import type { Suspension } from "./journal.ts";
import { foundSoFar, limitReached } from "./limits.ts";
import { type Fitted, isOverflow, makeMoreRoom, makeRoom } from "./make-room.ts";
import { prepareRun, type Work } from "./prepare.ts";
import { toQuery } from "./query.ts";
import { commit, fail, park, suspend } from "./settle.ts";
import { type Watched, watchSilence } from "./silence.ts";
import { spendingReached, usageReached } from "./spending.ts";
import type { TurnPorts } from "./turn-ports.ts";
import { workedMs } from "./worked.ts";

/** What a run knows of the outside; the broker gives it. */
export interface Running {
  readonly claim: Claim;
  readonly cut: AbortSignal;
  readonly isStopping: () => boolean;
  readonly claimNext: () => LeaseRequest | undefined;
}

/** Gives the claim that the settling brought, if any. */
export async function runTurn(running: Running, parts: TurnPorts): Promise<Claim | undefined> {
  const { claim, cut } = running;
  const claimed = parts.spans.now();
  using abort = watchForAbort(claim, parts.store);
  let work: Work | undefined;
  try {
    checkInterruptions(claim, parts.settings.config().broker.maxInterruptions);
    work = await prepareRun(claim, parts);
    if (!(await joinWaiting(work, parts))) await abort.look();
    parts.spans.claim(claim.turn, work.items[0]!.event.id, claimed);
    parts.spans.mark(claim.turn, "prepared");
    const suspensions: Suspension[] = [];
    const signal = AbortSignal.any([abort.signal, cut]);
    const { silenceMs } = work.setup.agent.limits;
    const begun = work;
    const ended = await watchSilence(
      (watched) => workWithinWindow(begun, { watched, suspensions, abort }, running, parts),
      { signal, silenceMs, graceMs: parts.graceMs },
    );
    parts.spans.mark(claim.turn, "answered");
    const { result, work: last } = ended ?? { result: ABORTED, work };
    if (cut.aborted || result.kind === "parked") return await park(claim, parts.store);
    if (result.kind !== "aborted") parts.coolDowns.answered(work.profile.name);
    if (result.kind === "suspended") return await suspend(suspensions, last, parts);
    return await commit(result, last, running.claimNext(), parts);
  } catch (error) {
    if (cut.aborted) return park(claim, parts.store);
    const alternative = work && noteFailure(error, { turn: claim.turn, ...work }, parts.coolDowns);
    const fallbacks = (work?.candidates.length ?? 1) - 1;
    const coolDown = alternative && parts.coolDowns.get(work!.profile.name);
    const failed = { claim, items: work?.items, fallbacks, alternative, coolDown };
    return fail(error, failed, running.claimNext(), parts);
  }
}

const ABORTED: AgentResult = { kind: "aborted", partial: undefined };

interface Circumstances {
  readonly watched: Watched;
  readonly suspensions: Suspension[];
  readonly abort: AbortWatch;
}

/** Lets the agent work, again with less where its model was given too much. */
async function workWithinWindow(
  work: Work,
  { watched, suspensions, abort }: Circumstances,
  running: Running,
  parts: TurnPorts,
): Promise<{ readonly result: AgentResult; readonly work: Work }> {
  const { claim, setup, profile } = work;
  const { signal, touch } = watched;
  if (claim.abort !== undefined || signal.aborted) return { result: ABORTED, work };
  const agent = await parts.agents.agentFor(profile, work);
  const { session } = claim.lease;
  const request = { profile, session, agent: setup.id, signal, onDelta: touch, onProgress: touch };
  const roomParts = { ...parts, agent, request };
  const agentParts = { agent, watched, suspensions, abort };
  // A thread is not summed up for a turn that may not ask its model.
  const end = await spentEnough(work, parts);
  let fitted = end === undefined ? await makeRoom(work, roomParts) : endedBy(end, work);
  for (;;) {
    try {
      return { result: await letAgentWork(fitted, agentParts, running, parts), work: fitted.work };
    } catch (error) {
      if (!isOverflow(error)) throw error;
      if (signal.aborted) return { result: ABORTED, work: fitted.work };
      fitted = await makeMoreRoom(fitted, roomParts);
    }
  }
}

async function letAgentWork(
  { work, current, tried }: Fitted,
  { agent, watched, suspensions, abort }: Circumstances & { readonly agent: Agent },
  running: Running,
  parts: TurnPorts,
): Promise<AgentResult> {
  const { claim, setup, profile, tools, journal } = work;
  const { signal, touch, pause } = watched;
  const readSteering = async (): Promise<readonly QueueItem[]> => {
    if (!agent.capabilities.steer) return [];
    const pending = await parts.store.queue.pending(claim.lease.session, { limit: MAX_PAGE });
    const selected = parts.selectSteering(pending, { items: work.items, nowMs: parts.clock() });
    return withoutTurns(selected, parts.store);
  };
  const calls = callParts(
    work,
    {
      signal,
      isStopping: running.isStopping,
      hasSteering: async () => (await readSteering()).length > 0,
      suspensions,
    },
    parts,
  );
  const unmarked = new Set<Stage>(["asked", "first byte"]);
  /** Of the first call to the model. */
  const mark = (stage: Stage): void => {
    if (unmarked.delete(stage)) parts.spans.mark(claim.turn, stage);
  };
  return agent.run({
    profile,
    session: claim.lease.session,
    agent: setup.id,
    turn: claim.turn,
    system: work.system,
    history: work.history,
    current: { messages: journal.messages, toolCalls: current.toolCalls },
    tools: [...tools.values()],
    signal,
    async beforeModelCall(): Promise<Continuation> {
      if (running.isStopping()) return { kind: "park" };
      const { messages } = journal;
      const soFar = { messages, workedMs: workedMs(work.worked, parts.clock()) };
      const { worker } = work;
      const text =
        tried.end ?? limitReached(setup.agent.limits, soFar, worker) ?? (await spentEnough(work, parts));
      if (text !== undefined) {
        // Whoever gave the work sees nothing of the turn but its answer.
        const found = worker === undefined ? "" : `\n\n${foundSoFar(messages, journal.toolCalls)}`;
        return { kind: "stop", text: text + found };
      }
      const steering = await readSteering();
      if (signal.aborted) return { kind: "park" }; // what is said after an abort is for the next turn
      const outcome = await takeSteering(steering, work, parts);
      if (outcome.kind === "aborted") await abort.look(); // and the signal says it
      mark("asked");
      return { kind: "go", messages: outcome.kind === "taken" ? outcome.messages : [] };
    },
    record(message) {
      touch();
      return journal.addMessages([message]);
    },
    callTool: (call, ordinal) => pause(() => callTool(call, ordinal, calls)),
    onDelta(delta) {
      touch();
      mark("first byte");
      if (!signal.aborted) parts.live.tell(claim, delta);
    },
    onProgress: touch,
  });
}

async function spentEnough(
  { persona, permissions, profile }: Work,
  { store, settings, clock }: TurnPorts,
): Promise<string | undefined> {
  if (profile.backend === "offline") return undefined; // it costs nothing
  const spentUsd = store.turns.spentUsd.bind(store.turns);
  const { timezone, usage } = settings.config();
  const dayStartMs = (): number => dayStart(clock(), timezone);
  const spent = await spendingReached(persona, permissions(), profile, { spentUsd, dayStartMs });
  if (spent !== undefined) return spent;
  const reached = usageReached(await store.turns.usedSince(dayStartMs()), usage, persona);
  return reached && `I stopped here: ${reached} Write again tomorrow, or raise it.`;
}

function endedBy(end: string, work: Work): Fitted {
  return { work, current: work.journal, tried: { compacted: false, shortenedAt: -1, end } };
}

/** A message has entered the turn when it is in the journal, and not before. */
async function takeSteering(steering: readonly QueueItem[], work: Work, parts: TurnPorts) {
  if (steering.length === 0) return { kind: "taken", messages: [] } as const;
  const { timezone } = parts.settings.config();
  const messages = steering.map((item) => toQuery(item, timezone));
  const kind = await tryTaking(() => work.journal.addMessages(messages, steering));
  // Those that still wait are there at the next step, or in the next turn.
  if (kind !== "taken") return { kind } as const;
  work.items.push(...steering);
  return { kind, messages } as const;
}

interface AbortWatch extends Disposable {
  readonly signal: AbortSignal;
  /** Reads the note; if there is one, the signal is aborted when this resolves. */
  readonly look: () => Promise<void>;
}

/** Wake-ups can be lost; this is how long a run then goes on that was asked to abort. */
const ABORT_POLL_MS = 5_000;

/** The note that a run is to be aborted is in the store; a wake-up says that there may be one. */
function watchForAbort(claim: Claim, store: Store): AbortWatch {
  const controller = new AbortController();
  const loop = new WakeLoop({
    async round() {
      const run = await store.runs.get(claim.run);
      if (run?.abort !== undefined) controller.abort();
    },
    listen: (wake) => store.onWake("runs", wake),
    pollMs: ABORT_POLL_MS,
  });
  loop.start();
  return {
    signal: controller.signal,
    look: () => loop.settle(),
    [Symbol.dispose]: () => void loop[Symbol.asyncDispose](), // what it reads last matters to nobody
  };
}

/** A turn that brings the process down each time it is tried would do so for ever. */
function checkInterruptions({ interruptions }: Claim, max: number): void {
  if (interruptions < max) return;
  throw new CortexError("turn_failed", `The turn was cut off ${interruptions} times without getting on`, {
    hint: "Look at the log for what ended Cortex, then `cortex dead retry` the message.",
  });
}
