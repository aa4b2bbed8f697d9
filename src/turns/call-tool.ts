/**
 * Makes the tool calls of a turn, so that each is made at most once and has exactly one outcome.
 *
 * The intent is on disk before the tool begins and the result right after it has ended. A call that had
 * begun and has no result was cut off: it is made again only where its tool says that this does no harm;
 * otherwise the model is told that nobody knows.
 */
import type { CallOutcome } from "../agents/agent.ts";
import { CortexError } from "../model/errors.ts";
import type { ApprovalId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { CallBlock, ToolStatus } from "../model/message.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Redact } from "../model/redact.ts";
import type { Tool, ToolContext, ToolOutcome, ToolResult } from "../model/tool.ts";
import { canonicalToolName, canonicalToolParams } from "../model/tool-aliases.ts";
import type { Mark } from "../model/trust.ts";
import type { Approval } from "../store/store.ts";
import { APPROVAL_MS, type Asked, hashOfCall, resolve } from "./approval.ts";
import { type GateParts, judgeCall, marksOf, marksOfResult } from "./gate.ts";
import type { Suspension, TurnJournal } from "./journal.ts";

/** How long a tool has to end once it was told to. Then it is left alone: it may hold up no turn. */
const GRACE_MS = 5_000;

/** What one turn may ask people at the same time: nobody reads more. */
export const MAX_OPEN_REQUESTS = 20;

export interface CallParts extends GateParts {
  readonly journal: TurnJournal;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clock: () => number;
  readonly mintId: () => string;
  readonly context: Omit<ToolContext, "callId" | "callKey" | "signal" | "permissions" | "delegable">;
  readonly delegable: () => Permissions;
  /** Aborts the turn: the call ends, and its outcome is left open. */
  readonly signal: AbortSignal;
  /** Whether the process ends: begin nothing. */
  readonly isStopping: () => boolean;
  /** Whether a message waits that is to enter the turn before the model is asked again. */
  readonly hasSteering: () => Promise<boolean>;
  readonly suspensions: Suspension[];
  readonly readApproval: (id: ApprovalId) => Promise<Approval | undefined>;
  /** What has come of work that the call has given away. Undefined: it is not over. */
  readonly readChild: (detail: Json) => Promise<ToolResult | undefined>;
  /** Takes an approved call up. False: that was done before. */
  readonly useApproval: (id: ApprovalId) => Promise<boolean>;
  /** Notes what the session comes into contact with. */
  readonly mark: (marks: readonly Mark[]) => Promise<void>;
  readonly redact: Redact;
  readonly graceMs?: number;
}

export async function callTool(call: CallBlock, ordinal: number, parts: CallParts): Promise<CallOutcome> {
  if (parts.isStopping() || parts.signal.aborted) return { kind: "park" };
  const tool = parts.tools.get(canonicalToolName(call.name));
  const step = { call, ordinal, tool };
  if (parts.journal.toolCalls[ordinal]?.status === "started") return goOn(step, parts);

  if (tool === undefined) return finish("error", toolUnknown(call.name, parts.tools), step, parts);
  if (!isObject(call.arguments)) return finish("error", ARGUMENTS_UNREADABLE, step, parts);
  if (await parts.hasSteering()) return finish("skipped", SKIPPED, step, parts);
  return begin({ ...step, tool }, parts);
}

interface Step {
  readonly call: CallBlock;
  readonly ordinal: number;
  readonly tool: Tool | undefined;
}

type KnownStep = Step & { readonly tool: Tool };

/** Goes on with a call that was begun by somebody before. */
async function goOn(step: Step, parts: CallParts): Promise<CallOutcome> {
  const { call, ordinal, tool } = step;
  const waiting = parts.journal.waitingCall(ordinal);
  if (waiting === undefined)
    return tool?.repeatable === true
      ? begin({ ...step, tool }, parts)
      : finish("unknown", CUT_OFF, step, parts);
  if (waiting.kind === "child") return goOnWithChild(step, waiting, parts);
  if (waiting.kind === "other") return suspend(waiting, parts);

  const asked = waiting.detail as unknown as Asked;
  const approval = await parts.readApproval(asked.approval);
  const name = tool?.name ?? canonicalToolName(call.name);
  const resolved = resolve(approval, asked, { tool: name, ...requestOf(asked), ...parts.context });
  switch (resolved.kind) {
    case "wait":
      return suspend(waiting, parts);
    case "result":
      return finish(resolved.result.isError === true ? "error" : "ok", resolved.result, step, parts);
    case "begun":
      return makeAgain(step, requestOf(asked).args, asked.notes, parts);
    case "make": {
      if (tool === undefined) return finish("error", toolUnknown(call.name, parts.tools), step, parts);
      await parts.mark(await marksOf(tool, asked.notes, parts));
      const isFirst = await parts.useApproval(asked.approval);
      const { args } = resolved;
      return isFirst
        ? make({ ...step, tool }, args, asked.notes, parts)
        : makeAgain(step, args, asked.notes, parts);
    }
  }
}

async function goOnWithChild(step: Step, waiting: Suspension, parts: CallParts): Promise<CallOutcome> {
  const result = await parts.readChild(waiting.detail);
  if (result === undefined) return suspend(waiting, parts);
  return finish(result.isError === true ? "error" : "ok", result, step, parts);
}

/** A call that was agreed to and under way when its process died is made again where that does no harm. */
async function makeAgain(
  step: Step,
  params: Json,
  notes: readonly string[],
  parts: CallParts,
): Promise<CallOutcome> {
  const { tool } = step;
  if (tool?.repeatable !== true) return finish("unknown", CUT_OFF, step, parts);
  return make({ ...step, tool }, params, notes, parts);
}

async function begin(step: KnownStep, parts: CallParts): Promise<CallOutcome> {
  const { call, ordinal, tool } = step;
  const { journal, clock } = parts;
  const params = canonicalToolParams(call.name, call.arguments);
  const judgement = await judgeCall(tool, params, contextOf(step, parts, parts.signal), parts);
  if (parts.signal.aborted) return { kind: "park" };
  if (judgement.kind === "refuse") {
    await parts.mark(judgement.marks);
    return finish("error", refused(judgement.reason), step, parts);
  }
  if (judgement.kind === "ask") {
    const open = parts.suspensions.filter(({ kind }) => kind === "approval" || kind === "question");
    if (open.length >= MAX_OPEN_REQUESTS) return finish("error", TOO_MANY, step, parts);
    const asked = ask(tool, judgement, parts);
    await journal.startCall(call, ordinal, clock());
    return wait({ ordinal, callId: call.id, kind: "approval", detail: asked as unknown as Json }, parts);
  }
  await Promise.all([journal.startCall(call, ordinal, clock()), parts.mark(judgement.marks)]);
  return make(step, judgement.params, judgement.notes, parts);
}

function ask(
  { name }: Tool,
  { params, reason, notes }: { params: Json; reason: string; notes: readonly string[] },
  { mintId, clock, redact, context: { workspace } }: CallParts,
): Asked {
  // What a person reads is what is agreed to and made: without secrets.
  const args = JSON.parse(redact(JSON.stringify(params))) as Json;
  return {
    approval: mintId() as ApprovalId,
    callHash: hashOfCall({ tool: name, args, workspace }),
    request: { tool: name, args, reason },
    expiresAtMs: clock() + APPROVAL_MS,
    notes,
  };
}

/** Makes a call whose intent is in the journal. */
async function make(
  step: KnownStep,
  params: Json,
  notes: readonly string[],
  parts: CallParts,
): Promise<CallOutcome> {
  const outcome = await attempt(step, params, parts);
  if (outcome === "aborted") return { kind: "park" };
  if (outcome.kind === "suspend") return wait(suspensionOf(step, outcome, parts), parts);
  const { result } = outcome;
  const hooked = { tool: step.tool.name, params, context: contextOf(step, parts, parts.signal) };
  const added = await parts.hooks.after(hooked, result);
  const isError = result.isError === true;
  await parts.mark(await marksOfResult(step.tool, { isError, notes: added }, parts));
  const text = [result.text, ...notes, ...added].join("\n\n");
  return finish(isError ? "error" : "ok", { ...result, text }, step, parts);
}

function suspensionOf(
  { call, ordinal, tool }: KnownStep,
  { waitKind, detail }: Extract<ToolOutcome, { kind: "suspend" }>,
  { mintId, context: { workspace } }: CallParts,
): Suspension {
  if (waitKind !== "question") return { ordinal, callId: call.id, kind: waitKind, detail };
  const asked: Asked = {
    approval: mintId() as ApprovalId,
    callHash: hashOfCall({ tool: tool.name, args: call.arguments, workspace }),
    request: detail ?? {},
    expiresAtMs: null,
    notes: [],
  };
  return { ordinal, callId: call.id, kind: "question", detail: asked as unknown as Json };
}

/** Whoever takes the turn up again must neither make the call anew nor give it up. */
async function wait(call: Suspension, parts: CallParts): Promise<CallOutcome> {
  await parts.journal.addWaiting(call);
  return suspend(call, parts);
}

function suspend(call: Suspension, { suspensions }: CallParts): CallOutcome {
  suspensions.push(call);
  return { kind: "suspended" };
}

async function finish(
  status: Exclude<ToolStatus, "started">,
  result: ToolResult,
  { call, ordinal }: Step,
  { journal, clock, redact }: CallParts,
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

function contextOf(
  { call, ordinal }: Step,
  { context, permissions, delegable }: CallParts,
  signal: AbortSignal,
): ToolContext {
  return {
    ...context,
    permissions: permissions(),
    delegable: delegable(),
    callId: call.id,
    callKey: `${context.turn}-${ordinal}`,
    signal,
  };
}

/** What a tool throws is for the model to read, whatever it is: the turn goes on. */
async function attempt(step: KnownStep, params: Json, parts: CallParts): Promise<ToolOutcome | "aborted"> {
  const { tool } = step;
  const { signal, graceMs = GRACE_MS } = parts;
  if (signal.aborted) return "aborted";
  const deadline = AbortSignal.timeout(tool.timeoutMs);
  const stop = AbortSignal.any([signal, deadline]);
  using grace = startGrace(stop, graceMs);
  try {
    const running = tool.run(params, contextOf(step, parts, stop));
    const outcome = await Promise.race([running, grace.over]);
    if (signal.aborted) return "aborted";
    return (
      outcome ?? failed(`The tool took longer than ${tool.timeoutMs / 1000} s and may still be at work.`)
    );
  } catch (error) {
    if (signal.aborted) return "aborted";
    if (deadline.aborted)
      return failed(`The tool took longer than ${tool.timeoutMs / 1000} s and was stopped.`);
    if (error instanceof CortexError) return failed(`${error.message}. ${error.hint}`);
    return failed(`The tool failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Is over some time after the signal. */
function startGrace(stop: AbortSignal, ms: number): Disposable & { readonly over: Promise<undefined> } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => void (timer = setTimeout(resolve, ms, undefined));
  stop.addEventListener("abort", begin, { once: true });
  return {
    over: promise,
    [Symbol.dispose]() {
      stop.removeEventListener("abort", begin);
      clearTimeout(timer);
    },
  };
}

function refused(reason: string): ToolResult {
  return { text: `This call was not made: ${reason}`, isError: true };
}

function failed(text: string): ToolOutcome {
  return { kind: "done", result: { text, isError: true } };
}

function isObject(value: Json): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a model wrote that is no JSON is kept as the text that it is. */
const ARGUMENTS_UNREADABLE: ToolResult = {
  text: "This call was not made: its arguments are no JSON object. Write them anew, and whole.",
  isError: true,
};

const CUT_OFF: ToolResult = {
  text: "Cortex was stopped while this call was under way. Whether it took effect is not known: look before you repeat it.",
  isError: true,
};

const TOO_MANY: ToolResult = {
  text: `This call was not made: a person is asked about ${MAX_OPEN_REQUESTS} other calls already. Ask for fewer at once.`,
  isError: true,
};

const SKIPPED: ToolResult = {
  text: "This call was not made: a newer message has arrived, and follows.",
  isError: true,
};

function toolUnknown(name: string, tools: ReadonlyMap<string, Tool>): ToolResult {
  const known = [...tools.keys()].join(", ");
  return { text: `There is no tool "${name}". The tools are: ${known || "none"}.`, isError: true };
}
