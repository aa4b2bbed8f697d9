/**
 * Makes the tool calls of a turn, so that each is made at most once and has exactly one outcome.
 *
 * The intent is on disk before the tool starts, and the result right after it has ended. A call that was started and has
 * no result was interrupted: it is repeated only if its tool allows that; otherwise the model is told that the outcome is
 * unknown.
 */
import assert from "node:assert/strict";

import type { CallOutcome } from "../agents/agent.ts";
import type { ApprovalId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { CallBlock, ToolStatus } from "../model/message.ts";
import type { FileDigest, Request } from "../model/request.ts";
import type { Proposal, Tool, ToolContext, ToolOutcome, ToolResult } from "../model/tool.ts";
import { canonicalToolName, canonicalToolParams } from "../model/tool-aliases.ts";
import { truncate } from "../model/truncate.ts";
import type { ToolHooks } from "../model/tool-hook.ts";
import {
  isWithin,
  joinLabels,
  type Label,
  mayTell,
  NO_LABEL,
  OWNERS,
  readTrust,
  type Trust,
  UNDECLARED,
} from "../model/trust.ts";
import { answeredMessage } from "../model/stamp.ts";
import type { Approval, DeliveryTarget, Store } from "../store/store.ts";
import { APPROVAL_MS, type Asked, hashOfCall, isAskingTooMuch, resolve } from "./approval.ts";
import { audienceOfTurn, confinedTo } from "./audience.ts";
import {
  hasBeenHeard,
  type Heard,
  type LabelAtChoice,
  MAX_TURNS_HEARD,
  wordsOfOwner,
} from "./chosen-words.ts";
import { changeSince } from "./drift.ts";
import {
  asCalled,
  broughtBefore,
  broughtBy,
  codeModeFor,
  type CodeMode,
  type Gate,
  judgeCall,
  proposalOf,
} from "./gate.ts";
import type { Suspension } from "./journal.ts";
import type { RunWork } from "./prepare.ts";
import { attachedFiles } from "./query.ts";
import { runTool } from "./run-tool.ts";
import { RunLabels } from "./run-labels.ts";
import { deliveriesFor } from "./answer-deliveries.ts";
import { isByOthers, labelSession, toolEnvironment } from "./setup.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** How many requests to people one turn may have open. */
export const MAX_OPEN_REQUESTS = 20;

/** The run that makes calls. */
export interface CallingRun {
  readonly work: Pick<
    RunWork,
    | "claim"
    | "setup"
    | "journal"
    | "tools"
    | "permissions"
    | "delegable"
    | "folders"
    | "skills"
    | "items"
    | "attachedBefore"
    | "labels"
    | "thread"
  >;
  readonly ports: Pick<
    TurnPorts,
    "clock" | "mintId" | "redact" | "environment" | "settings" | "sandbox" | "bounds" | "deliveriesOf"
  > & {
    readonly store: {
      readonly sessions: Pick<Store["sessions"], "get" | "configure">;
      readonly approvals: Pick<Store["approvals"], "get" | "use" | "countOpen">;
      readonly queue: Pick<Store["queue"], "itemsOf">;
    };
    readonly features: Pick<TurnPorts["features"], "readWait">;
  };
  /** The hooks of the agent, opened once per run. */
  readonly hooks: () => ToolHooks;
  /** Aborts the turn: the call ends, and its outcome stays open. */
  readonly signal: AbortSignal;
  /** Whether the process is stopping: start nothing. */
  readonly isStopping: () => boolean;
  /** Whether a message is waiting to enter the turn before the model is asked again. */
  readonly hasSteering: () => Promise<boolean>;
  /** The calls that wait for an answer. */
  readonly suspensions: Suspension[];
  readonly labelAtChoice: LabelAtChoice;
  readonly graceMs?: number;
}

export async function callTool(call: CallBlock, ordinal: number, run: CallingRun): Promise<CallOutcome> {
  const { journal, tools } = run.work;
  if (run.isStopping() || run.signal.aborted) return { kind: "park" };
  const tool = tools.get(canonicalToolName(call.name));
  const step = { call, ordinal, tool };
  if (journal.toolCalls[ordinal]?.status === "started") return goOn(step, run);

  if (tool === undefined) return finish("error", toolUnknown(call.name, tools), step, run);
  if (!isObject(call.arguments)) return finish("error", ARGUMENTS_UNREADABLE, step, run);
  if (await run.hasSteering()) return finish("skipped", SKIPPED, step, run);
  return begin({ ...step, tool }, run);
}

/** What judges a call of a run. */
function gateOf({ call, ordinal }: Step, run: CallingRun): Gate {
  const { work, hooks, labelAtChoice } = run;
  return {
    permissions: work.permissions(),
    audience: audienceOfTurn(work.items),
    confinedTo: confinementOf(run),
    codeMode: codeModeOf(run),
    readTrust: () => trustOfSession(run),
    trustAtChoice: (now) => labelAtChoice.of(call, work.journal.messages, now),
    hasBeenHeard: async (said) => hasBeenHeard(said, await heardBefore(ordinal, run)),
    hooks: hooks(),
  };
}

function confinementOf({ work: { items, setup } }: CallingRun): string | undefined {
  return confinedTo(items, setup.persona);
}

/** Only for the owner: what they have said to their agent is not for others to repeat. */
async function heardBefore(ordinal: number, { work, ports }: CallingRun): Promise<Heard> {
  const { items, thread, journal, tools } = work;
  const turns = isByOthers(items) ? [] : thread.turns.slice(-MAX_TURNS_HEARD);
  const earlier = await Promise.all(turns.map(({ turn }) => ports.store.queue.itemsOf(turn.id)));
  return {
    messages: isByOthers(items) ? [] : wordsOfOwner([...earlier.flat(), ...items]),
    before: turns.flatMap(({ toolCalls }) => toolCalls),
    calls: journal.toolCalls.filter((each) => each.ordinal < ordinal),
    tools,
  };
}

/** What becomes of programs in the turn. */
export function codeModeOf({ work, ports }: CodeRun): CodeMode {
  return codeModeFor(ports.sandbox.mode().effective, { isByOthers: isByOthers(work.items) });
}

interface CodeRun {
  readonly work: Pick<RunWork, "items">;
  readonly ports: Pick<TurnPorts, "sandbox">;
}

async function trustOfSession({ work, ports }: CallingRun): Promise<Trust> {
  return readTrust((await ports.store.sessions.get(work.claim.lease.session))?.settings ?? {});
}

/** Records what the session has come into contact with. */
function label(
  brought: Label & Partial<Trust>,
  { call }: Pick<Step, "call">,
  { work: { claim }, ports }: CallingRun,
): Promise<void> {
  const { path } = isObject(call.arguments) ? (call.arguments as { readonly path?: Json }) : {};
  const origin = {
    turn: claim.turn,
    tool: canonicalToolName(call.name),
    ...(typeof path === "string" ? { path: truncate(ports.redact(path), MAX_PATH_LENGTH) } : {}),
  };
  return labelSession(claim.lease.session, [{ label: brought, origin }], ports.store);
}

/** Of a file that a call names, beside a label. */
const MAX_PATH_LENGTH = 300;

interface Step {
  readonly call: CallBlock;
  readonly ordinal: number;
  readonly tool: Tool | undefined;
}

type KnownStep = Step & { readonly tool: Tool };

/** Continues a call that an earlier run started. */
async function goOn(step: Step, run: CallingRun): Promise<CallOutcome> {
  const { call, ordinal, tool } = step;
  const { work, ports } = run;
  const waiting = work.journal.waitingCall(ordinal);
  if (waiting === undefined)
    return tool?.repeatable === true ? begin({ ...step, tool }, run) : finish("unknown", CUT_OFF, step, run);
  if (waiting.kind === "child") return goOnWithChild(step, waiting, run);
  if (waiting.kind === "other") return suspend(waiting, run);

  const asked = waiting.detail as unknown as Asked;
  const approval = await ports.store.approvals.get(asked.approval);
  const name = tool?.name ?? canonicalToolName(call.name);
  const { workspace } = work.folders;
  const resolved = resolve(approval, asked, { tool: name, ...requestOf(asked), workspace });
  switch (resolved.kind) {
    case "wait":
      return suspend(waiting, run);
    case "result":
      return finish(resolved.result.isError === true ? "error" : "ok", resolved.result, step, run);
    case "begun": {
      const { untrusted } = await trustOfSession(run);
      const { args } = requestOf(asked);
      return makeAgain(
        step,
        { params: args, notes: asked.notes, agreed: agreedIn(asked, untrusted.length > 0) },
        run,
      );
    }
    case "make": {
      if (tool === undefined) return finish("error", toolUnknown(call.name, work.tools), step, run);
      assert(approval !== undefined);
      const trust = await trustOfSession(run);
      const proposal = await proposalOf(tool, resolved.args, contextOf(step, run));
      const change = changeSince(approval, {
        trust,
        files: proposal?.files ?? [],
        isOwnDoing: hasBroughtSince(approval.askedAtMs, run),
      });
      if (change !== undefined)
        return askAgain({ ...step, tool }, { asked, approval, proposal, change }, run);
      await label(broughtBefore(asCalled(tool, resolved.args), codeModeOf(run), asked.notes), step, run);
      const isFirst = await ports.store.approvals.use(work.claim.lease, work.claim.run, asked.approval);
      const approved = {
        params: resolved.args,
        notes: asked.notes,
        agreed: agreedIn(asked, trust.untrusted.length > 0),
      };
      return isFirst ? make({ ...step, tool }, approved, run) : makeAgain(step, approved, run);
    }
  }
}

/** Whether a call of the turn that has ended since then may have brought text from others. */
function hasBroughtSince(sinceMs: number, { work: { journal, tools } }: CallingRun): boolean {
  return journal.toolCalls.some(({ tool: name, completedAtMs = -Infinity }) => {
    const tool = tools.get(canonicalToolName(name));
    const trust = tool?.trust ?? UNDECLARED;
    return completedAtMs >= sinceMs && trust.untrusted === true;
  });
}

/** In a session with text from others, a person has agreed to a change of these files, and of no others. */
function agreedIn(asked: Asked, isGuarded: boolean): readonly FileDigest[] | undefined {
  return isGuarded ? ((asked.request as Request).files ?? []) : undefined;
}

/**
 * Asks a person again, once, about a call whose approval no longer holds. The approval becomes void in the commit that
 * asks; if the process dies before, the next run finds that it waits for a request that is not there yet, and asks.
 */
async function askAgain(
  { call, ordinal, tool }: KnownStep,
  {
    asked,
    approval,
    proposal,
    change,
  }: { asked: Asked; approval: Approval; proposal: Proposal | undefined; change: string },
  run: CallingRun,
): Promise<CallOutcome> {
  if (asked.replaces !== undefined)
    return finish("error", refused(CHANGED_TWICE(change)), { call, ordinal, tool }, run);
  const { args, reason = "" } = approval.request as unknown as Request & { readonly args: Json };
  const again = ask(tool, { params: args, reason, notes: asked.notes, proposal, again: change }, run);
  const detail: Asked = { ...again, replaces: approval.id };
  return wait({ ordinal, callId: call.id, kind: "approval", detail: detail as unknown as Json }, run);
}

async function goOnWithChild(step: Step, waiting: Suspension, run: CallingRun): Promise<CallOutcome> {
  const found = await run.ports.features.readWait(waiting.detail);
  if (found === undefined) return suspend(waiting, run);
  const { label: brought = NO_LABEL, ...result } = found;
  const audience = confinementOf(run);
  if (audience !== undefined && !mayTell(brought, audience))
    return finish("error", withheld(result, audience), step, run);
  await label(brought, step, run); // before the model reads it
  return finish(result.isError === true ? "error" : "ok", result, step, run);
}

/** An approved call that was running when its process died is repeated only if its tool allows that. */
async function makeAgain(step: Step, judged: JudgedCall, run: CallingRun): Promise<CallOutcome> {
  const { tool } = step;
  if (tool?.repeatable !== true) return finish("unknown", CUT_OFF, step, run);
  return make({ ...step, tool }, judged, run);
}

async function begin(step: KnownStep, run: CallingRun): Promise<CallOutcome> {
  const { call, ordinal, tool } = step;
  const { journal } = run.work;
  const { clock } = run.ports;
  const params = canonicalToolParams(call.name, call.arguments);
  const judgement = await judgeCall(tool, params, contextOf(step, run), gateOf(step, run));
  if (run.signal.aborted) return { kind: "park" };
  if (judgement.kind === "refuse") {
    await label(judgement.brings, step, run);
    return finish("error", refused(judgement.reason), step, run);
  }
  if (judgement.kind === "ask") {
    const tooMany = await tooManyOpen(run);
    if (tooMany !== undefined) return finish("error", tooMany, step, run);
    const asked = ask(tool, judgement, run);
    await journal.startCall(call, ordinal, clock());
    return wait({ ordinal, callId: call.id, kind: "approval", detail: asked as unknown as Json }, run);
  }
  await Promise.all([journal.startCall(call, ordinal, clock()), label(judgement.brings, step, run)]);
  const agreed = judgement.isGuarded === true ? [] : undefined;
  return make(step, { ...judgement, agreed, mayLead: judgement.isLed !== true }, run);
}

/** What a call gets that would need one more request to people than may be open. */
async function tooManyOpen({ work, ports, suspensions }: CallingRun): Promise<ToolResult | undefined> {
  const { length: own } = suspensions.filter(({ kind }) => kind === "approval" || kind === "question");
  if (own >= MAX_OPEN_REQUESTS) return TOO_MANY;
  const { principal } = work.labels.writer;
  return (await isAskingTooMuch({ principal, turn: work.claim.turn, own }, ports))
    ? TOO_MANY_OF_PERSON
    : undefined;
}

interface Asking {
  readonly params: Json;
  readonly reason: string;
  readonly notes: readonly string[];
  readonly proposal: Proposal | undefined;
  /** Why an approval does not hold any more. */
  readonly again?: string;
}

function ask(
  { name }: Tool,
  { params, reason, notes, proposal, again }: Asking,
  { work, ports: { mintId, clock, redact } }: CallingRun,
): Asked {
  // The call that a person reads is the call that is approved and made, so it holds no secrets.
  const args = JSON.parse(redact(JSON.stringify(params))) as Json;
  const { files = [], diff } = proposal ?? {};
  const request: Request = {
    tool: name,
    args,
    reason,
    ...(again === undefined ? {} : { again }),
    files,
    ...(diff === undefined ? {} : { diff: redact(diff) }),
  };
  return {
    approval: mintId() as ApprovalId,
    callHash: hashOfCall({ tool: name, args, workspace: work.folders.workspace }),
    request: request as unknown as Json,
    expiresAtMs: clock() + APPROVAL_MS,
    notes,
  };
}

interface JudgedCall {
  readonly params: Json;
  readonly notes: readonly string[];
  /** See `ToolContext`. */
  readonly agreed: readonly FileDigest[] | undefined;
  /** See `ToolContext`. */
  readonly sends?: Label;
  /** Whether addresses that it finds may be asked for unasked. */
  readonly mayLead?: boolean;
}

/** Makes a call that is in the journal. */
async function make(
  step: KnownStep,
  { params, notes, agreed, sends, mayLead = false }: JudgedCall,
  run: CallingRun,
): Promise<CallOutcome> {
  const context = { ...contextOf(step, run), agreed, sends };
  const outcome = await runTool(step.tool, params, context, run.graceMs);
  if (outcome === "aborted") return { kind: "park" };
  if (outcome.kind === "suspend") {
    const tooMany = outcome.waitKind === "question" ? await tooManyOpen(run) : undefined;
    if (tooMany !== undefined) return finish("error", tooMany, step, run);
    return wait(suspensionOf(step, outcome, run), run);
  }
  const { result } = outcome;
  const said = await run.hooks().after({ tool: step.tool.name, params, context }, result);
  const added = context.confinedTo === undefined ? said : [];
  const brought = broughtBy(step.tool, codeModeOf(run), result, added);
  const everything = async (): Promise<Label> => joinLabels(await trustOfSession(run), brought);
  if (context.confinedTo !== undefined && !mayTell(brought, context.confinedTo)) {
    await run.work.labels.keepOutput(context, everything);
    return finish("error", withheld(result, context.confinedTo), step, run);
  }
  await label(brought, step, run); // before the model reads it
  await run.work.labels.keepOutput(context, everything);
  const text = [result.text, ...notes, ...added].join("\n\n");
  const found = mayLead ? result : withoutLeads(result);
  const told = isWithin(brought, OWNERS) ? withoutLabel(found) : { ...found, label: brought };
  return finish(result.isError === true ? "error" : "ok", { ...told, text }, step, run);
}

/** A label that says nothing is not recorded. */
function withoutLabel(result: ToolResult): ToolResult {
  const { label: _, ...others } = result;
  return others;
}

function withoutLeads(result: ToolResult): ToolResult {
  const { leads: _, ...others } = result;
  return others;
}

function suspensionOf(
  { call, ordinal, tool }: KnownStep,
  { waitKind, detail }: Extract<ToolOutcome, { kind: "suspend" }>,
  { work, ports: { mintId } }: CallingRun,
): Suspension {
  if (waitKind !== "question") return { ordinal, callId: call.id, kind: waitKind, detail };
  const asked: Asked = {
    approval: mintId() as ApprovalId,
    callHash: hashOfCall({ tool: tool.name, args: call.arguments, workspace: work.folders.workspace }),
    request: detail ?? {},
    expiresAtMs: null,
    notes: [],
  };
  return { ordinal, callId: call.id, kind: "question", detail: asked as unknown as Json };
}

/** Recorded, so that the next run neither repeats the call nor gives it up. */
async function wait(call: Suspension, run: CallingRun): Promise<CallOutcome> {
  await run.work.journal.addWaiting(call);
  return suspend(call, run);
}

function suspend(call: Suspension, { suspensions }: CallingRun): CallOutcome {
  suspensions.push(call);
  return { kind: "suspended" };
}

async function finish(
  status: Exclude<ToolStatus, "started">,
  result: ToolResult,
  { call, ordinal }: Step,
  { work: { journal }, ports: { clock, redact } }: CallingRun,
): Promise<CallOutcome> {
  const told = { ...result, text: redact(result.text) };
  return {
    kind: "done",
    call: await journal.finishCall(call, ordinal, { status, result: told, atMs: clock() }),
  };
}

function requestOf({ request }: Asked): { readonly args: Json } {
  return { args: (request as { args?: Json }).args ?? null };
}

function contextOf({ call, ordinal }: Step, run: CallingRun): ToolContext {
  const { work, ports, signal } = run;
  const { claim, setup, folders, skills, items, attachedBefore } = work;
  const permissions = work.permissions();
  const { variable } = ports.settings;
  return {
    session: claim.lease.session,
    agent: setup.id,
    turn: claim.turn,
    run: claim.run,
    epoch: claim.lease.epoch,
    ...folders,
    roots: permissions.roots,
    peoples: [...setup.agent.pluginDirs, ...skills.map(({ folder }) => folder)],
    readable: [
      ...skills.filter(({ source }) => source !== "workspace").map(({ folder }) => folder),
      ...attachedFilesOf(items),
      ...attachedBefore,
    ],
    environment: toolEnvironment(ports.environment, { names: permissions.credentials, variable }),
    confinedTo: confinementOf(run),
    answersTo: answerAddressOf(run),
    labels: new RunLabels(work.labels, {
      readTrust: () => trustOfSession(run),
      confinedTo: confinementOf(run),
      attached: [...attachedFilesOf(items), ...attachedBefore],
    }),
    sandbox: ports.sandbox.sandbox(),
    bounds: ports.bounds.of({ id: setup.id, limits: setup.agent.limits, workspace: folders.workspace }),
    permissions,
    delegable: work.delegable(),
    callId: call.id,
    callKey: `${claim.turn}-${ordinal}`,
    signal,
  };
}

/** Where the answer goes as long as no tag in it says otherwise. */
function answerAddressOf({ work: { items }, ports }: CallingRun): DeliveryTarget | undefined {
  const item = answeredMessage(items);
  if (item === undefined) return undefined;
  const [delivery] = deliveriesFor(item, "…", ports);
  return delivery?.target;
}

/** Also of messages that joined the turn. */
function attachedFilesOf(items: RunWork["items"]): string[] {
  return items.flatMap(({ event }) => attachedFiles(event.attachments));
}

/** The model reads nothing of it, so the session gets no label. */
function withheld({ childSession }: ToolResult, audience: string): ToolResult {
  return {
    text:
      `The result is withheld: it may contain other people's data, and this conversation may only use data of ${audience}. ` +
      "Do not repeat the call.",
    isError: true,
    ...(childSession === undefined ? {} : { childSession }),
  };
}

function refused(reason: string): ToolResult {
  return { text: `This call was not made: ${reason}`, isError: true };
}

function isObject(value: Json): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Invalid JSON is kept as text. */
const ARGUMENTS_UNREADABLE: ToolResult = {
  text: "This call was not made: its arguments are not a complete JSON object. Send them again in full.",
  isError: true,
};

const CUT_OFF: ToolResult = {
  text: "Cortex stopped during this call. It may or may not have taken effect: check before you repeat it.",
  isError: true,
};

const CHANGED_TWICE = (change: string): string =>
  `${change}, for the second time. Request it again when nothing else changes what it depends on.`;

const TOO_MANY: ToolResult = {
  text: `This call was not made: ${MAX_OPEN_REQUESTS} others already wait for a person. Request fewer at once.`,
  isError: true,
};

const TOO_MANY_OF_PERSON: ToolResult = {
  text: "This call was not made: too many requests for this person are already open (limit `people.openApprovals`). Do without it, and say so.",
  isError: true,
};

const SKIPPED: ToolResult = {
  text: "This call was not made: a newer message arrived. It follows.",
  isError: true,
};

function toolUnknown(name: string, tools: ReadonlyMap<string, Tool>): ToolResult {
  const known = [...tools.keys()].join(", ");
  return { text: `Unknown tool "${name}". Available tools: ${known || "none"}.`, isError: true };
}
