/**
 * Carries out a claimed turn: lets the agent work on its context, and settles it as committed, aborted, suspended,
 * failed, or left for the next holder.
 *
 * Nothing is remembered from one run to the next. An interrupted run continues from its journal, by the same code that
 * begins a new one.
 */
import type { Agent, AgentRequest, AgentResult, Continuation } from "../agents/agent.ts";
import { CortexError } from "../model/errors.ts";
import type { Stage } from "../model/spans.ts";
import type { ToolHooks } from "../model/tool-hook.ts";
import { WakeLoop } from "../model/wake-loop.ts";
import type { Claim, LeaseRequest, QueueItem, Store } from "../store/store.ts";
import { type CallingRun, callTool, codeModeOf } from "./call-tool.ts";
import { noteFailure } from "./choose-profile.ts";
import { LabelAtChoice } from "./chosen-words.ts";
import { joinWaiting, readSteering, takeSteering } from "./join.ts";
import type { Suspension } from "./journal.ts";
import { dayLimitReached, foundSoFar, limitReached, type Watched, watchSilence, workedMs } from "./limits.ts";
import { type Fitted, isOverflow, makeMoreRoom, makeRoom } from "./make-room.ts";
import { prepareRun, type RunWork } from "./prepare.ts";
import { commitRun, failRun, parkRun, suspendRun } from "./settle.ts";
import { agentToolHooks } from "./tool-hooks.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** What the broker tells a run. */
export interface Running {
  readonly claim: Claim;
  readonly cut: AbortSignal;
  readonly isStopping: () => boolean;
  readonly claimNext: () => LeaseRequest | undefined;
}

/** Returns the claim that the settling brought, if any. */
export async function runTurn(running: Running, ports: TurnPorts): Promise<Claim | undefined> {
  const { claim, cut } = running;
  const claimed = ports.spans.now();
  using abort = watchForAbort(claim, ports.store);
  let work: RunWork | undefined;
  try {
    checkInterruptions(claim, ports.settings.config().broker.maxInterruptions);
    work = await prepareRun(claim, ports);
    if (!(await joinWaiting(work, ports))) await abort.look();
    const [first] = work.items;
    if (first !== undefined) ports.spans.claim(claim.turn, first.event.id, claimed);
    ports.spans.mark(claim.turn, "prepared");
    const suspensions: Suspension[] = [];
    const signal = AbortSignal.any([abort.signal, cut]);
    const { silenceMs } = work.setup.agent.limits;
    const begun = work;
    const ended = await watchSilence(
      (watched) => workWithinWindow(begun, { running, watched, suspensions, abort, ports }),
      { signal, silenceMs, graceMs: ports.graceMs },
    );
    ports.spans.mark(claim.turn, "answered");
    const { result, work: last } = ended ?? { result: ABORTED, work };
    if (cut.aborted || result.kind === "parked") return await parkRun(claim, ports.store);
    if (result.kind !== "aborted") ports.coolDowns.answered(work.profile.name);
    if (result.kind === "suspended") return await suspendRun(suspensions, last, ports);
    return await commitRun(result, last, running.claimNext(), ports);
  } catch (error) {
    if (cut.aborted) return parkRun(claim, ports.store);
    const alternative = work && noteFailure(error, { turn: claim.turn, ...work }, ports.coolDowns);
    const coolDown = work && alternative && ports.coolDowns.get(work.profile.name);
    const fallbacks = (work?.candidates.length ?? 1) - 1;
    const failed = { claim, items: work?.items, fallbacks, alternative, coolDown };
    return failRun(error, failed, running.claimNext(), ports);
  }
}

const ABORTED: AgentResult = { kind: "aborted", partial: undefined };

/** Everything around the agent's work that outlives one attempt to fit it into the window. */
interface Attempt {
  readonly running: Running;
  readonly watched: Watched;
  readonly suspensions: Suspension[];
  readonly abort: AbortWatch;
  readonly ports: TurnPorts;
}

/** Lets the agent work, and again with less if its model was given too much. */
async function workWithinWindow(
  work: RunWork,
  attempt: Attempt,
): Promise<{ readonly result: AgentResult; readonly work: RunWork }> {
  const { ports, watched } = attempt;
  const { claim, setup, profile } = work;
  const { signal, touch } = watched;
  if (claim.abort !== undefined || signal.aborted) return { result: ABORTED, work };
  const { session } = claim.lease;
  const forWorker = { ...work, session, turn: claim.turn, codeMode: codeModeOf({ work, ports }) };
  const agent = await (ports.features.agentFor(profile, forWorker) ?? ports.agentFor(profile));
  const request = { profile, session, agent: setup.id, signal, onDelta: touch, onProgress: touch };
  const room = { ...ports, agent, request };
  // A thread is not summarised for a turn that may not ask its model.
  const end = await dayLimitReached(work, ports);
  let fitted = end === undefined ? await makeRoom(work, room) : endedBy(end, work);
  for (;;) {
    try {
      return { result: await agent.run(requestOf(fitted, agent, attempt)), work: fitted.work };
    } catch (error) {
      if (!isOverflow(error)) throw error;
      if (signal.aborted) return { result: ABORTED, work: fitted.work };
      fitted = await makeMoreRoom(fitted, room);
    }
  }
}

function endedBy(end: string, work: RunWork): Fitted {
  return { work, current: work.journal, tried: { compacted: false, shortenedAt: -1, end } };
}

/** What the agent is asked to do, and how what it does enters the journal. */
function requestOf(fitted: Fitted, agent: Agent, attempt: Attempt): AgentRequest {
  const { work, current } = fitted;
  const { claim, setup, journal } = work;
  const { ports, running, watched, suspensions } = attempt;
  const { signal, touch, pause } = watched;
  const steering = async (): Promise<readonly QueueItem[]> =>
    agent.capabilities.steer ? readSteering(work, ports) : [];
  let hooks: ToolHooks | undefined;
  const calling: CallingRun = {
    work,
    ports,
    hooks: () => (hooks ??= agentToolHooks(setup, ports)),
    signal,
    isStopping: running.isStopping,
    hasSteering: async () => (await steering()).length > 0,
    suspensions,
    labelAtChoice: new LabelAtChoice(),
  };
  const unmarked = new Set<Stage>(["asked", "first byte"]);
  /** Of the first model call. */
  const mark = (stage: Stage): void => {
    if (unmarked.delete(stage)) ports.spans.mark(claim.turn, stage);
  };
  return {
    profile: work.profile,
    session: claim.lease.session,
    agent: setup.id,
    turn: claim.turn,
    system: work.system,
    history: work.history,
    current: { messages: journal.messages, toolCalls: current.toolCalls },
    tools: [...work.tools.values()],
    signal,
    async beforeModelCall(): Promise<Continuation> {
      const next = await decideNext(fitted, steering, attempt);
      if (next.kind === "go") mark("asked");
      return next;
    },
    record(message) {
      touch();
      ports.live.finished(claim);
      return journal.addMessages([message]);
    },
    callTool: (call, ordinal) => pause(() => callTool(call, ordinal, calling)),
    onDelta(delta) {
      touch();
      mark("first byte");
      if (!signal.aborted) ports.live.tell(claim, delta);
    },
    onProgress: touch,
  };
}

/** Decides before every model call whether the turn goes on, and takes in the messages that steer it. */
async function decideNext(
  { work, tried }: Fitted,
  steering: () => Promise<readonly QueueItem[]>,
  { running, watched: { signal }, abort, ports }: Attempt,
): Promise<Continuation> {
  if (running.isStopping()) return { kind: "park" };
  const { setup, worker, worked } = work;
  const { messages, toolCalls } = work.journal;
  const soFar = { messages, workedMs: workedMs(worked, ports.clock()) };
  const text =
    tried.end ?? limitReached(setup.agent.limits, soFar, worker) ?? (await dayLimitReached(work, ports));
  if (text !== undefined) {
    // The agent that gave the work sees nothing of the turn but its answer.
    const found = worker === undefined ? "" : `\n\n${foundSoFar(messages, toolCalls)}`;
    return { kind: "stop", text: text + found };
  }
  const waiting = await steering();
  if (signal.aborted) return { kind: "park" }; // messages after an abort are for the next turn
  const taken = await takeSteering(waiting, work, ports);
  if (taken === undefined) await abort.look(); // the signal is aborted now
  return { kind: "go", messages: taken ?? [] };
}

interface AbortWatch extends Disposable {
  readonly signal: AbortSignal;
  /** Reads the note; if there is one, the signal is aborted when this resolves. */
  readonly look: () => Promise<void>;
}

/** Wake-ups can be lost; this is how long a run continues after it was asked to abort. */
const ABORT_POLL_MS = 5_000;

/** The store notes that a run is to be aborted; a wake-up says that there may be a note. */
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
    [Symbol.dispose]: () => void loop[Symbol.asyncDispose](), // its last read no longer matters
  };
}

/** A turn that brings the process down on every attempt would do so for ever. */
function checkInterruptions({ interruptions }: Claim, max: number): void {
  if (interruptions < max) return;
  throw new CortexError("turn_failed", `The turn was interrupted ${interruptions} times without progress`, {
    hint: "Check the log for the cause, then run `cortex dead retry <id>`; `cortex dead list` shows the id.",
  });
}
