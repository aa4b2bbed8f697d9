/**
 * What stands between a call that a model wants and the call that is made: the owner's hooks, the permissions of
 * the turn, the sandbox, and the rule of two. The strictest of them counts.
 */
import { allowsTool, asksBefore, type Permissions } from "../model/permissions.ts";
import type { Json } from "../model/json.ts";
import type { Tool, ToolContext } from "../model/tool.ts";
import type { ToolHooks } from "../model/tool-hook.ts";
import {
  addedMarks,
  HOOK_WORDS,
  type Mark,
  needsConsent,
  type ToolTrust,
  type Trust,
  UNDECLARED,
} from "../model/trust.ts";

/**
 * What becomes of programs of a model's choice: see `sandbox` in the configuration. owner-only: none is run, because
 * others than the owner wrote to the turn and there is no sandbox.
 */
export type CodeMode = "sandboxed" | "asks" | "refuses" | "plain" | "owner-only";

/** Outside a sandbox, a command can do everything the owner can: it is never run on the word of others. */
export function codeModeFor(
  mode: Exclude<CodeMode, "owner-only">,
  { isByOthers }: { readonly isByOthers: boolean },
): CodeMode {
  return isByOthers && (mode === "asks" || mode === "plain") ? "owner-only" : mode;
}

/** What a call is judged by, as it is at that moment: permissions may have shrunk since the turn began. */
export interface Gate {
  readonly permissions: Permissions;
  readonly codeMode: CodeMode;
  readonly readTrust: () => Promise<Trust>;
  readonly hooks: ToolHooks;
}

type Judgement =
  | {
      readonly kind: "make";
      readonly params: Json;
      readonly notes: readonly string[];
      /** What the session must be marked with before the call is made. */
      readonly marks: readonly Mark[];
    }
  | { readonly kind: "refuse"; readonly reason: string; readonly marks: readonly Mark[] }
  | {
      readonly kind: "ask";
      readonly params: Json;
      readonly notes: readonly string[];
      readonly reason: string;
    };

export async function judgeCall(
  tool: Tool,
  params: Json,
  context: ToolContext,
  { permissions, codeMode, readTrust, hooks }: Gate,
): Promise<Judgement> {
  if (!allowsTool(permissions, tool.name)) return refuse(`${tool.name} is not allowed for this agent.`);
  const refusal = tool.runsCode === true ? REFUSALS[codeMode] : undefined;
  if (refusal !== undefined) return refuse(refusal);

  const said = await hooks.before({ tool: tool.name, params, context });
  const trust = await readTrust();
  if (said.decision === "deny")
    return said.reason === undefined
      ? refuse("A tool hook denied this call.")
      : refuse(said.reason, addedMarks(trust, HOOK_WORDS));
  const brings = trustOf(tool, codeMode);
  const reasons = [
    ...(said.decision === "ask" ? [said.reason ?? "a tool hook requires it"] : []),
    ...(tool.asks === undefined ? [] : [tool.asks]),
    ...(tool.asksForOthers === undefined || !trust.untrusted ? [] : [tool.asksForOthers]),
    ...(asksBefore(permissions, tool.name) ? [`the persona's \`ask\` list includes ${tool.name}`] : []),
    ...(tool.runsCode === true && codeMode === "asks" ? ["commands have no sandbox"] : []),
    ...(needsConsent(trust, brings) ? [RULE_OF_TWO] : []),
  ];
  const { params: wanted, notes } = said;
  if (reasons.length > 0) return { kind: "ask", params: wanted, notes, reason: reasons.join("; ") };
  return { kind: "make", params: wanted, notes, marks: addedMarks(trust, withNotes(brings, notes)) };
}

/** The marks of a call that a person has agreed to. */
export async function marksOf(
  tool: Tool,
  notes: readonly string[],
  { codeMode, readTrust }: Pick<Gate, "codeMode" | "readTrust">,
): Promise<readonly Mark[]> {
  return addedMarks(await readTrust(), withNotes(trustOf(tool, codeMode), notes));
}

/** The marks of what a call has brought: an error, and what hooks have added to it. */
export async function marksOfResult(
  { errorTrust = {} }: Tool,
  { isError, notes }: { readonly isError: boolean; readonly notes: readonly string[] },
  { readTrust }: Pick<Gate, "readTrust">,
): Promise<readonly Mark[]> {
  const brings = withNotes(isError ? errorTrust : {}, notes);
  return Object.keys(brings).length === 0 ? [] : addedMarks(await readTrust(), brings);
}

/**
 * A program that is not confined reads and sends whatever it likes. Where the owner wants it so, what lies in the
 * folders counts as the owner's own words: else each command after the first one would need a yes.
 */
function trustOf({ trust: declared, runsCode }: Tool, mode: CodeMode): ToolTrust {
  const trust = (declared as ToolTrust | undefined) ?? UNDECLARED;
  const { untrusted, ...known } = trust;
  const isOwn = mode === "plain" && trust.outward !== true;
  return {
    ...known,
    ...(untrusted === true && !isOwn ? { untrusted } : {}),
    ...(runsCode === true && mode !== "sandboxed" ? { private: true, outward: true } : {}),
  };
}

function withNotes(brings: ToolTrust, notes: readonly string[]): ToolTrust {
  return notes.length === 0 ? brings : { ...brings, ...HOOK_WORDS };
}

function refuse(reason: string, marks: readonly Mark[] = []): Judgement {
  return { kind: "refuse", reason, marks };
}

const REFUSALS: Partial<Record<CodeMode, string>> = {
  refuses:
    'Commands require a sandbox ("sandbox": "require" in cortex.json), and none is available on this machine.',
  "owner-only":
    "This turn has messages from others than the owner, whose commands run only in a sandbox, and there is none: " +
    "`cortex doctor` says why.",
};

const RULE_OF_TWO =
  "this conversation contains private data and text from others, and the call has an outside effect";
