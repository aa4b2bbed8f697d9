/**
 * The owner's programs that look at tool calls: commands from the configuration, and those that plugins made for
 * Claude Code bring along in `hooks/hooks.json`.
 *
 * A program is given the call as JSON on its standard input, and never on its command line. It answers on its
 * standard output with `{"hookSpecificOutput": {"permissionDecision": "allow" | "deny" | "ask",
 * "permissionDecisionReason", "updatedInput", "additionalContext"}}`, or with nothing; exit code 2 refuses the
 * call, and what it wrote to standard error is the reason.
 */
import { z } from "zod";

import type { Json } from "../../model/json.ts";
import type { ToolContext, ToolResult } from "../../model/tool.ts";
import type { BeforeCall, HookedCall, ToolHooks } from "../../model/tool-hook.ts";
import { type NamedVariables, namedVariables } from "../../programs/environment.ts";
import { type GroupEnd, runGroup } from "../../programs/run-group.ts";

export interface ToolHookCommand {
  /** As the owner knows it: `toolHooks[0]`, or the file of a plugin. */
  readonly name: string;
  readonly event: "before" | "after";
  readonly isFor: (tool: string) => boolean;
  /** A line for `/bin/sh`. */
  readonly command: string;
  /** Where it is run. Not in a workspace: a program that it names could be one that the agent has put there. */
  readonly folder: string;
  readonly timeoutMs: number;
  /** What it is told of itself. */
  readonly told?: Readonly<Record<string, string>>;
  /** The variables that it is given beside those that the agent's commands have. */
  readonly env?: readonly string[];
  /** A call is refused where this one cannot be asked. */
  readonly isGuard: boolean;
}

/** What a hook may write, in bytes. */
export const MAX_HOOK_OUTPUT = 256 * 1024;
/** What is shown of it where it is no answer. */
const MAX_SHOWN = 500;
const GRACE_MS = 1_000;
const DRAIN_MS = 250;

/** Exit code by which a hook refuses. */
const REFUSED = 2;

export function createToolHooks(
  commands: () => readonly ToolHookCommand[],
  { log, variable }: { readonly log: (line: string) => void; readonly variable: NamedVariables["variable"] },
): ToolHooks {
  const ask = (hook: ToolHookCommand, call: HookedCall, result: ToolResult | undefined): Promise<Answer> =>
    run(hook, { call, result, variables: namedVariables({ names: hook.env ?? [], variable }) });
  const asked = (event: ToolHookCommand["event"], tool: string): readonly ToolHookCommand[] =>
    commands().filter((command) => command.event === event && command.isFor(tool));
  return {
    async before(call) {
      let params = call.params;
      let decision: BeforeCall["decision"] = "allow";
      const reasons: string[] = [];
      const notes: string[] = [];
      for (const hook of asked("before", call.tool)) {
        const answer = await ask(hook, { ...call, params }, undefined);
        if (answer.problem !== undefined) log(answer.problem);
        if (answer.problem !== undefined && hook.isGuard)
          return { decision: "deny", reason: answer.problem, params, notes };
        if (answer.decision === "deny")
          return { decision: "deny", reason: answer.reason ?? `${hook.name} refuses it.`, params, notes };
        if (answer.decision === "ask") {
          decision = "ask";
          reasons.push(answer.reason ?? `${hook.name} wants it`);
        }
        params = answer.params ?? params;
        notes.push(...answer.notes);
      }
      return { decision, params, notes, ...(reasons.length > 0 && { reason: reasons.join("; ") }) };
    },
    async after(call, result) {
      const notes: string[] = [];
      for (const hook of asked("after", call.tool)) {
        const answer = await ask(hook, call, result);
        if (answer.problem !== undefined) log(answer.problem);
        if (answer.decision === "deny" && answer.reason !== undefined) notes.push(answer.reason);
        notes.push(...answer.notes);
      }
      return notes;
    },
  };
}

interface Answer {
  readonly decision?: BeforeCall["decision"];
  readonly reason?: string | undefined;
  readonly params?: Json | undefined;
  readonly notes: readonly string[];
  /** It could not be asked, or has answered nonsense. */
  readonly problem?: string;
}

interface Asked {
  readonly call: HookedCall;
  readonly result: ToolResult | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

async function run(hook: ToolHookCommand, { call, result, variables }: Asked): Promise<Answer> {
  const [output, errors] = [new Heard(), new Heard()];
  let end: GroupEnd;
  try {
    end = await runGroup({
      file: "/bin/sh",
      args: ["-c", hook.command],
      folder: hook.folder,
      environment: { ...call.context.environment, ...variables, ...hook.told },
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
  if (end.stopped === "timeout") return problem(hook, `took longer than ${hook.timeoutMs} ms`);
  if (end.stopped === "aborted") return problem(hook, "was stopped with its turn");
  if (end.exitCode === REFUSED)
    return { decision: "deny", reason: errors.shown() || `${hook.name} refuses it.`, notes: [] };
  if (end.exitCode !== 0)
    return problem(hook, `ended with ${end.signal ?? `code ${String(end.exitCode)}`}: ${errors.shown()}`);
  if (output.isCut) return problem(hook, `wrote more than ${MAX_HOOK_OUTPUT} bytes`);
  return read(hook, output.text);
}

/** The names are those of Claude Code, so that hooks written for it work here. */
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
  // The older form.
  decision: z.enum(["approve", "block"]).optional(),
  reason: z.string().optional(),
});

function read(hook: ToolHookCommand, text: string): Answer {
  if (text.trim() === "") return { notes: [] };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Words that are no JSON are for the log of whoever wrote the hook, as in Claude Code.
    return { notes: [] };
  }
  const parsed = Output.safeParse(json);
  if (!parsed.success)
    return problem(hook, `answered something else than was asked: ${z.prettifyError(parsed.error)}`);
  const { hookSpecificOutput: said, decision, reason } = parsed.data;
  const older = decision === "block" ? "deny" : decision === "approve" ? "allow" : undefined;
  const decided = said?.permissionDecision ?? older;
  return {
    ...(decided !== undefined && { decision: decided }),
    reason: said?.permissionDecisionReason ?? reason,
    params: said?.updatedInput,
    notes: said?.additionalContext === undefined ? [] : [said.additionalContext],
  };
}

function problem({ name }: ToolHookCommand, what: string): Answer {
  return { notes: [], problem: `The tool hook ${name} ${what}` };
}

/** What a program writes, up to a limit. */
class Heard {
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
