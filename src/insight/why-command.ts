/** `cortex why`: the path of an event, step by step, with times and reasons. */
import { explain, type Explanation } from "./why.ts";
import type { Invocation } from "../feature/command.ts";
import { identityOf } from "../model/principal.ts";
import { openLedger } from "../client/ledger.ts";
import { principalKind } from "../model/principal.ts";
import { isPersonPolicy, LIMIT_OF_POLICY } from "../model/person-limits.ts";
import { REMARK_HOOK } from "../model/hook-order.ts";
import { count, duration, firstLine, harmless, moment, table } from "../terminal/text.ts";

const MAX_CONTENT_LENGTH = 80;
const MAX_ERROR_LENGTH = 300;
const MAX_HOOKS_NAMED = 10;
const MAX_LINKS_NAMED = 8;

interface Step {
  /** Null: the current state. */
  readonly at: string | null;
  readonly what: string;
}

type HookRun = Explanation["hooks"][number];
type Item = Explanation["items"][number];
type Turn = Explanation["turns"][number];
type Run = Turn["runs"][number];
type Delivery = Turn["deliveries"][number];

export async function why({ home, args, options, print }: Invocation): Promise<void> {
  await using ledger = await openLedger(home);
  const [id = ""] = args;
  const explanation = await explain(ledger, id);
  const draw = options["timing"] === true ? drawTiming : drawTimeline;
  print.data(explanation, () => print.advice(draw(explanation)));
}

/** A table of stages for each turn. */
function drawTiming({ turns }: Explanation): string {
  if (turns.length === 0) return "No turn answers this event.";
  return turns
    .map(({ id, timing }) => {
      const rows = timing.map(({ stage, atMs, tookMs, cpuMs }) => [
        stage,
        atMs.toFixed(1),
        tookMs.toFixed(1),
        cpuMs === null ? "-" : cpuMs.toFixed(1),
      ]);
      return `turn ${id}\n${table([["STAGE", "AT MS", "TOOK MS", "CPU MS"], ...rows])}`;
    })
    .join("\n\n");
}

/** In chronological order; simultaneous steps keep the order of the pipeline. */
function timelineOf(explanation: Explanation): Step[] {
  return [...stepsOf(explanation)].toSorted((a, b) => timeOf(a) - timeOf(b));
}

function* stepsOf(explanation: Explanation): Generator<Step> {
  const { turns } = explanation;
  const isRemark = ({ id }: Item): boolean =>
    explanation.dispatches.some(({ hook, itemId }) => hook === REMARK_HOOK && itemId === id);
  const remarks = explanation.items.filter(isRemark);
  const items = explanation.items.filter((item) => !isRemark(item));
  yield* eventSteps(explanation);
  for (const item of remarks) yield* endOfRemark(item);
  for (const item of items) yield queuedStep(item);
  for (const { runs } of turns) for (const run of runs) yield* runSteps(run);
  for (const item of items) yield* endOfItem(item);
  for (const turn of turns) yield* turnSteps(turn);
}

function timeOf({ at }: Step): number {
  return at === null ? Number.MAX_SAFE_INTEGER : Date.parse(at);
}

function drawTimeline(explanation: Explanation): string {
  const steps = timelineOf(explanation);
  return table(
    steps.map(({ at, what }, place) => {
      const before = steps[place - 1]?.at ?? null;
      const passed =
        at === null || before === null ? "" : `+${duration(Date.parse(at) - Date.parse(before))}`;
      return [at === null ? "now" : moment(at), passed, harmless(what).replaceAll("\n", " ")];
    }),
  );
}

function* eventSteps({ event, chain, hooks, dispatches, items }: Explanation): Generator<Step> {
  if (event === null) return;
  const { sender, channel, token, content, receivedAt, timestamp, differing, prunedAt } = event;
  const means = token === null ? "" : ` with the token ${token}`;
  const words = content === null ? "" : `: ${firstLine(content, MAX_CONTENT_LENGTH)}`;
  const said = prunedAt === null ? words : `, pruned ${moment(prunedAt)}`;
  if (Date.parse(timestamp) < Date.parse(receivedAt) - 1_000) yield { at: timestamp, what: "event time" };
  yield {
    at: receivedAt,
    what: `event ${event.id} accepted from ${sender ?? "unknown sender"} on ${channel}${means}${said}`,
  };
  if (differing > 0) {
    const times = count(differing, "redelivery had", "redeliveries had");
    yield { at: receivedAt, what: `${times} different content; the first was kept` };
  }
  if (chain.length > 1) {
    const names = chain.slice(1, 1 + MAX_LINKS_NAMED).map(({ id }) => id);
    const more = chain.length > 1 + names.length ? " ← …" : "";
    yield {
      at: receivedAt,
      what: `${count(event.depth, "link")} deep in its chain: ${event.id} ← ${names.join(" ← ")}${more}`,
    };
  }
  yield* hookSteps(hooks);
  yield* dispatchSteps(dispatches, hooks, items);
  const reply = replyOf(event);
  if (reply !== undefined)
    yield { at: receivedAt, what: `Cortex answered: ${firstLine(reply, MAX_ERROR_LENGTH)}` };
  else if (dispatches.length === 0 && hooks.every(({ relayId }) => relayId === null))
    yield { at: null, what: `no further processing: ${whyNothing(event, hooks)}` };
}

/** Cortex's own answer to a command or to the reply to a question. */
function replyOf({ metadata }: NonNullable<Explanation["event"]>): string | undefined {
  const reply = (metadata as { reply?: unknown } | null)?.reply;
  return typeof reply === "string" ? reply : undefined;
}

/** Only the owner, members and sources are answered. */
function whyNothing(
  { channel, account, sender, principal, metadata }: NonNullable<Explanation["event"]>,
  hooks: readonly HookRun[],
): string {
  const isGuest = principalKind(principal) === "guest";
  const refused = refusalIn(metadata);
  if (refused !== undefined) return `not answered: ${refused}`;
  if (!isGuest && hooks.every(({ fired }) => !fired)) return "no hook fired";
  if (sender === null) return `its sender on ${channel} is unknown`;
  return (
    `${sender} on ${channel} is a guest; ` +
    `to answer such messages, run \`cortex people add <id> --identity ${identityOf({ channel, account: account ?? undefined, sender })}\``
  );
}

/** Why the settings of a channel kept a message from being answered. */
function refusalIn(metadata: unknown): string | undefined {
  const { admission } = (metadata ?? {}) as { admission?: { answered: boolean; reason: string } };
  return admission?.answered === false ? admission.reason : undefined;
}

function* dispatchSteps(
  dispatches: Explanation["dispatches"],
  hooks: readonly HookRun[],
  items: readonly Item[],
): Generator<Step> {
  for (const { hook, session, outcome, itemId, createdAt } of dispatches) {
    const item = items.find(({ id }) => id === itemId);
    yield {
      at: createdAt,
      what:
        hook === REMARK_HOOK
          ? `noted for the next turn of ${session}`
          : `hook ${hook} dispatched it to ${session}: ${inWords(outcome, item)}`,
    };
  }
  const exclusive = hooks.find((run) => run.exclusive && run.fired);
  if (exclusive === undefined) return;
  for (const { hook, fired, startedAt } of hooks) {
    if (!fired || !hook.startsWith("default-")) continue;
    const asked = dispatches.find((dispatch) => dispatch.hook === hook);
    const at = asked?.createdAt ?? startedAt;
    if (asked === undefined || asked.outcome === "silenced")
      yield { at, what: `hook ${hook} silenced by exclusive hook ${exclusive.hook}` };
    else
      yield {
        at: exclusive.startedAt,
        what: `exclusive hook ${exclusive.hook} was too late to silence ${hook}: its turn had started`,
      };
  }
}

function inWords(outcome: Explanation["dispatches"][number]["outcome"], item: Item | undefined): string {
  switch (outcome) {
    case "queued":
    case "dropped":
      return outcome;
    case "joined":
      return "joined the same turn";
    case "merged":
      return "merged, nothing to add to the running turn";
    case "silenced":
      return "silenced and withdrawn";
    case "late":
      if (item?.state === "merged") return `late, steered into turn ${item.turnId}`;
      if (item?.state === "done") return `late, as a follow-up: turn ${item.turnId}`;
      return "late, after its turn had started: it will steer or follow that turn";
  }
}

/** Groups hooks that did not fire into one step: there may be a thousand of them. */
function* hookSteps(runs: readonly HookRun[]): Generator<Step> {
  for (const { hook, fired, error, skipped, durationMs, startedAt, relayId } of runs) {
    if (skipped !== null) yield { at: startedAt, what: `hook ${hook} ${reason(skipped)}` };
    const took = `after ${duration(durationMs)}`;
    if (error !== null) yield { at: startedAt, what: `hook ${hook} failed ${took}: ${reason(error)}` };
    else if (fired) yield { at: startedAt, what: `hook ${hook} fired ${took}` };
    if (relayId !== null) yield { at: startedAt, what: `hook ${hook} started the relay ${relayId}` };
  }
  const silent = runs.filter(({ fired, error, skipped }) => !fired && error === null && skipped === null);
  const [firstSilent] = silent;
  if (firstSilent === undefined) return;
  const names = silent.slice(0, MAX_HOOKS_NAMED).map(({ hook }) => hook);
  const more = silent.length > names.length ? ", …" : "";
  const hooks = silent.length === 1 ? "hook" : "hooks";
  yield { at: firstSilent.startedAt, what: `${hooks} ${names.join(", ")}${more} did not fire` };
}

function queuedStep({ id, session, mode, queuedAt, dueAt }: Item): Step {
  const due = Date.parse(dueAt) > Date.parse(queuedAt) ? `, due at ${moment(dueAt)}` : "";
  return { at: queuedAt, what: `message ${id} queued in ${session}, mode ${mode}${due}` };
}

function limitOf(policy: string | null): string {
  return policy !== null && isPersonPolicy(policy)
    ? ` (limit \`${LIMIT_OF_POLICY[policy]}\` of the sender)`
    : "";
}

function dropInWords({ id, policy, formerTurnId }: Item): string {
  if (policy === "withdrawn") return `message ${id} withdrawn: its sender deleted it`;
  const told = formerTurnId === null ? "" : `; see turn ${formerTurnId}`;
  return `message ${id} dropped by policy "${policy}"${limitOf(policy)}${told}`;
}

/** A remark is no message: it is told, or waits for that. */
function* endOfRemark({ formerTurnId, settledAt }: Item): Generator<Step> {
  yield {
    at: settledAt,
    what: formerTurnId === null ? "not told to a turn yet" : `told to turn ${formerTurnId}`,
  };
}

function* endOfItem(item: Item): Generator<Step> {
  const { id, state, settledAt } = item;
  switch (state) {
    case "queued":
      yield { at: null, what: `message ${id} is waiting${waitOf(item)}` };
      break;
    case "claimed":
    case "done":
      break; // covered by the turn
    case "merged":
      yield { at: settledAt, what: `message ${id} joined the running turn ${item.turnId}` };
      break;
    case "dropped":
      yield { at: settledAt, what: dropInWords(item) };
      break;
    case "dead":
      if (item.caller !== null)
        yield {
          at: settledAt,
          what: `message ${id} failed; ${item.caller}, which delegated it, is notified`,
        };
      else
        yield {
          at: settledAt,
          what: `message ${id} is a dead letter; retry it with \`cortex dead retry ${id}\``,
        };
  }
}

function waitOf({ turnId, waitsFor }: Item): string {
  if (turnId !== null) return " for its next attempt";
  if (waitsFor === null) return "";
  const failed = waitsFor.state === "failed" ? `, which will be retried: ${reason(waitsFor.error)}` : "";
  return ` for turn ${waitsFor.turnId} of its session${failed}`;
}

function* turnSteps({ id, turn, deliveries, hooks, dispatches, labels }: Turn): Generator<Step> {
  for (const { label, from, at } of labels)
    yield { at, what: `the session got the label ${label}, from ${from}` };
  if (turn !== null) {
    const { model, provider, costUsd, toolCalls } = turn;
    const status = turn.limitReached ? "ended at a limit," : turn.status;
    const cost = costUsd === null ? "cost unknown" : `$${costUsd}`;
    const calls = toolCalls === 0 ? "" : `, ${count(toolCalls, "tool call")}`;
    const by = model === "none" ? "before any model call" : `by ${provider}/${model}`;
    yield { at: turn.completedAt, what: `turn ${id} ${status} ${by}${calls}, ${cost}` };
  }
  for (const delivery of deliveries) yield* deliverySteps(delivery);
  for (const { at, what } of hookSteps(hooks)) yield { at, what: `on its answer, ${what}` };
  for (const { at, what } of dispatchSteps(dispatches, hooks, []))
    yield { at, what: `on its answer, ${what}` };
}

function* runSteps(run: Run): Generator<Step> {
  const { id, attempt, state, interruptions, startedAt, endedAt, fallback } = run;
  const cut = interruptions === 0 ? "" : `, interrupted ${count(interruptions, "time")}`;
  yield { at: startedAt, what: `attempt ${attempt} started, run ${id}` };
  if (fallback !== null)
    yield { at: startedAt, what: `attempt ${attempt} uses a fallback, because profile ${reason(fallback)}` };
  switch (state) {
    case "running":
      yield { at: null, what: `attempt ${attempt} is running${cut}` };
      break;
    case "resumable":
      yield { at: null, what: `attempt ${attempt} will resume${cut}` };
      break;
    case "suspended":
      yield {
        at: null,
        what: `attempt ${attempt} is waiting for an answer (${run.wait?.kind ?? "other"})${cut}`,
      };
      break;
    case "failed":
      yield { at: endedAt, what: `attempt ${attempt} failed${cut}: ${reason(run.error)}` };
      break;
    case "aborted":
      yield { at: endedAt, what: `attempt ${attempt} aborted${cut}: ${reason(run.abort)}${by(run)}` };
      break;
    case "completed":
      if (cut !== "") yield { at: endedAt, what: `attempt ${attempt} completed${cut}` };
  }
}

function* deliverySteps(delivery: Delivery): Generator<Step> {
  const { id, target, state, attempt, error, chunks, createdAt, settledAt } = delivery;
  const sent = chunks.filter((chunk) => chunk.state === "sent").length;
  const parts = chunks.length === 0 ? "" : `, ${sent} of ${count(chunks.length, "part")} sent`;
  const tried = `${count(attempt, "attempt")}${parts}`;
  yield { at: createdAt, what: `delivery ${id} to ${target.channel} ${target.place}` };
  const why = error === null ? "" : `: ${reason(error)}`;
  yield { at: settledAt, what: `delivery ${id} is ${state}, ${tried}${why}` };
}

function reason(text: string | null): string {
  return text === null ? "reason unknown" : firstLine(text, MAX_ERROR_LENGTH);
}

function by({ abortedBy }: Run): string {
  return abortedBy === null ? "" : ` (${abortedBy})`;
}
