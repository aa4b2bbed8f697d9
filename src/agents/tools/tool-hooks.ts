/**
 * Runs the owner's programs that check tool calls: commands from the configuration, and those of Claude Code plugins in
 * `hooks/hooks.json`.
 *
 * A program receives the call as JSON on standard input, never on its command line. It answers on standard output with
 * `{"hookSpecificOutput": {"permissionDecision": "allow" | "deny" | "ask", "permissionDecisionReason", "updatedInput",
 * "additionalContext"}}`, or with nothing. Exit code 2 denies the call, with its standard error as the reason.
 */
import { z } from "zod";

import type { CortexError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import type { ToolContext, ToolResult } from "../../model/tool.ts";
import type { BeforeCall, HookedCall, ToolHooks } from "../../model/tool-hook.ts";
import { type NamedVariables, namedVariables } from "../../programs/environment.ts";
import { type GroupEnd, runGroup } from "../../programs/run-group.ts";
import { MARK_PROCESS } from "../../programs/shell-limits.ts";

export interface ToolHookCommand {
  /** For messages to the owner: `toolHooks[0]`, or the file of a plugin. */
  readonly name: string;
  readonly event: "before" | "after";
  readonly isFor: (tool: string) => boolean;
  /** A line for `/bin/sh`. */
  readonly command: string;
  /** The working directory. Not a workspace, where the agent could plant a program. */
  readonly folder: string;
  readonly timeoutMs: number;
  /** Environment variables about the hook itself. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Names of variables that it gets in addition to those of the agent's commands. */
  readonly env?: readonly string[];
  /** If this hook fails, the call is denied. */
  readonly isGuard: boolean;
  /** Asked right before it runs: why it may not run any more. The call is then denied. */
  readonly refusal?: () => Promise<CortexError | undefined>;
}

/** The limit on a hook's output, in bytes. */
export const MAX_HOOK_OUTPUT = 256 * 1024;
/** How much of an invalid output is quoted. */
const MAX_SHOWN = 500;
const GRACE_MS = 1_000;
const DRAIN_MS = 250;

/** The exit code that denies a call. */
const DENIED = 2;

export function createToolHooks(
  commands: () => readonly ToolHookCommand[],
  { log, variable }: { readonly log: (line: string) => void; readonly variable: NamedVariables["variable"] },
): ToolHooks {
  const ask = (
    hook: ToolHookCommand,
    call: HookedCall,
    result: ToolResult | undefined,
  ): Promise<HookAnswer> =>
    run(hook, { call, result, variables: namedVariables({ names: hook.env ?? [], variable }) });
  const hooksFor = (event: ToolHookCommand["event"], tool: string): readonly ToolHookCommand[] =>
    commands().filter((command) => command.event === event && command.isFor(tool));
  return {
    async before(call) {
      let params = call.params;
      let decision: BeforeCall["decision"] = "allow";
      const reasons: string[] = [];
      const notes: string[] = [];
      for (const hook of hooksFor("before", call.tool)) {
        const answer = await ask(hook, { ...call, params }, undefined);
        if (answer.problem !== undefined) log(answer.problem);
        if (answer.problem !== undefined && hook.isGuard)
          return { decision: "deny", reason: answer.problem, params, notes };
        if (answer.decision === "deny")
          return { decision: "deny", reason: answer.reason ?? `Denied by ${hook.name}.`, params, notes };
        if (answer.decision === "ask") {
          decision = "ask";
          reasons.push(answer.reason ?? `requested by ${hook.name}`);
        }
        params = answer.params ?? params;
        notes.push(...answer.notes);
      }
      return { decision, params, notes, ...(reasons.length > 0 && { reason: reasons.join("; ") }) };
    },
    async after(call, result) {
      const notes: string[] = [];
      for (const hook of hooksFor("after", call.tool)) {
        const answer = await ask(hook, call, result);
        if (answer.problem !== undefined) log(answer.problem);
        if (answer.decision === "deny" && answer.reason !== undefined) notes.push(answer.reason);
        notes.push(...answer.notes);
      }
      return notes;
    },
  };
}

interface HookAnswer {
  readonly decision?: BeforeCall["decision"];
  readonly reason?: string | undefined;
  readonly params?: Json | undefined;
  readonly notes: readonly string[];
  /** The hook failed, or its answer was invalid. */
  readonly problem?: string;
}

interface HookInput {
  readonly call: HookedCall;
  readonly result: ToolResult | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

async function run(hook: ToolHookCommand, { call, result, variables }: HookInput): Promise<HookAnswer> {
  const refusal = await hook.refusal?.();
  if (refusal !== undefined) {
    const { message, hint } = refusal;
    return { decision: "deny", reason: message, notes: [], problem: `${message}. ${hint}` };
  }
  const [output, errors] = [new BoundedOutput(), new BoundedOutput()];
  let end: GroupEnd;
  try {
    end = await runGroup({
      file: "/bin/sh",
      args: ["-c", MARK_PROCESS + hook.command],
      folder: hook.folder,
      environment: { ...call.context.environment, ...variables, ...hook.variables },
      watch: call.context.bounds?.watchCheck(),
      signal: call.context.signal,
      timeoutMs: hook.timeoutMs,
      graceMs: GRACE_MS,
      drainMs: DRAIN_MS,
      input: JSON.stringify(inputOf(hook, call, result)),
      onOutput: (chunk) => output.add(chunk),
      onErrors: (chunk) => errors.add(chunk),
    });
  } catch (error) {
    return problem(hook, `cannot be started: ${String(error)}`);
  }
  if (end.limit !== undefined) return problem(hook, `exceeded a limit: ${end.limit}`);
  if (end.stopped === "timeout") return problem(hook, `timed out after ${hook.timeoutMs} ms`);
  if (end.stopped === "aborted") return problem(hook, "was stopped with its turn");
  if (end.exitCode === DENIED)
    return { decision: "deny", reason: errors.shown() || `Denied by ${hook.name}.`, notes: [] };
  if (end.exitCode !== 0)
    return problem(hook, `exited with ${end.signal ?? `code ${String(end.exitCode)}`}: ${errors.shown()}`);
  if (output.isCut) return problem(hook, `wrote more than ${MAX_HOOK_OUTPUT} bytes`);
  return read(hook, output.text);
}

/** With the field names of Claude Code, so that its hooks work here. */
function inputOf(hook: ToolHookCommand, call: HookedCall, result: ToolResult | undefined): Json {
  const context: Pick<ToolContext, "session" | "workspace" | "callId" | "agent" | "turn"> = call.context;
  return {
    hook_event_name: hook.event === "before" ? "PreToolUse" : "PostToolUse",
    session_id: context.session,
    agent: context.agent,
    turn: context.turn,
    cwd: context.workspace,
    tool_name: call.tool,
    tool_input: call.params,
    tool_use_id: context.callId,
    ...(result !== undefined && { tool_response: { text: result.text, isError: result.isError === true } }),
  };
}

const Output = z.object({
  hookSpecificOutput: z
    .object({
      permissionDecision: z.enum(["allow", "deny", "ask"]).optional(),
      permissionDecisionReason: z.string().optional(),
      updatedInput: z.record(z.string(), z.json()).optional(),
      additionalContext: z.string().optional(),
    })
    .optional(),
  // the older form
  decision: z.enum(["approve", "block"]).optional(),
  reason: z.string().optional(),
});

function read(hook: ToolHookCommand, text: string): HookAnswer {
  if (text.trim() === "") return { notes: [] };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { notes: [] }; // plain text is ignored, as in Claude Code
  }
  const parsed = Output.safeParse(json);
  if (!parsed.success) return problem(hook, `returned an invalid answer: ${z.prettifyError(parsed.error)}`);
  const { hookSpecificOutput: answer, decision, reason } = parsed.data;
  const older = decision === "block" ? "deny" : decision === "approve" ? "allow" : undefined;
  const decided = answer?.permissionDecision ?? older;
  return {
    ...(decided !== undefined && { decision: decided }),
    reason: answer?.permissionDecisionReason ?? reason,
    params: answer?.updatedInput,
    notes: answer?.additionalContext === undefined ? [] : [answer.additionalContext],
  };
}

function problem({ name }: ToolHookCommand, what: string): HookAnswer {
  return { notes: [], problem: `The tool hook ${name} ${what}` };
}

/** The output of a program, up to a limit. */
class BoundedOutput {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  async add(chunk: Buffer): Promise<void> {
    this.#bytes += chunk.length;
    if (!this.isCut) this.#chunks.push(chunk);
  }

  get isCut(): boolean {
    return this.#bytes > MAX_HOOK_OUTPUT;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  shown(): string {
    return this.text.trim().slice(0, MAX_SHOWN).toWellFormed();
  }
}
