/**
 * What stands between a call that a model wants and the call that is made: the owner's hooks, the permissions of
 * the turn, the sandbox, and the rule of two. The strictest of them counts.
 */
import { CortexError } from "../model/errors.ts";
import { allowsTool, asksBefore, matches, type Permissions } from "../model/permissions.ts";
import type { Json } from "../model/json.ts";
import type { Proposal, Said, Tool, ToolContext, ToolResult } from "../model/tool.ts";
import type { ToolHooks } from "../model/tool-hook.ts";
import {
  declared,
  HOOK_WORDS,
  isDeniedToAuthor,
  joinLabels,
  joinTrust,
  type Label,
  mayTell,
  needsConsent,
  NO_LABEL,
  NO_TRUST,
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
  /** Of a call before which the session has this label: the label when its model requested it. */
  readonly trustAtChoice: (now: Trust) => Trust;
  /** Whether it says only what the owner has said: see `chosen-words.ts`. */
  readonly hasBeenHeard: (said: Said) => Promise<boolean>;
  readonly hooks: ToolHooks;
  /** Who reads what the turn says. */
  readonly audience: string;
  /** The audience whose data alone the call may bring in. Undefined: any data. */
  readonly confinedTo: string | undefined;
}

type Judgement =
  | {
      readonly kind: "make";
      readonly params: Json;
      readonly notes: readonly string[];
      /** What the call brings into the session before it is made. */
      readonly brings: Trust;
      /** The label of what it sends beside its parameters. */
      readonly sends?: Label;
      /** Files that belong to people stay closed to the call. */
      readonly isGuarded?: true;
      /** Words of others had a say in it, so what it finds leads nowhere: see `chosen-words.ts`. */
      readonly isLed?: true;
    }
  | { readonly kind: "refuse"; readonly reason: string; readonly brings: Trust }
  | {
      readonly kind: "ask";
      readonly params: Json;
      readonly notes: readonly string[];
      readonly reason: string;
      readonly proposal: Proposal | undefined;
    };

export async function judgeCall(
  wantedTool: Tool,
  params: Json,
  context: ToolContext,
  gate: Gate,
): Promise<Judgement> {
  const { permissions, codeMode, readTrust, trustAtChoice, hooks, audience, confinedTo } = gate;
  const { name } = wantedTool;
  if (!allowsTool(permissions, name)) return refuse(`${name} is not allowed for this agent.`);
  const refusal = refusalOf(asCalled(wantedTool, params), codeMode);
  if (refusal !== undefined) return refuse(refusal);

  const said = await hooks.before({ tool: name, params, context });
  const { params: wanted } = said;
  const tool = asCalled(wantedTool, wanted);
  const trust = await readTrust();
  const chosenAt = trustAtChoice(trust);
  const refusalNow = refusalOf(tool, codeMode); // a hook may have put other parameters into the call
  if (refusalNow !== undefined) return refuse(refusalNow);
  const sending = await whatIsSent(tool, wanted, context);
  if (sending.kind === "fault") return refuse(sending.reason, declared(tool.name, tool.errorTrust ?? {}));
  const { sends } = sending;
  const isTooMuch =
    confinedTo !== undefined &&
    ![broughtBefore(tool, codeMode, []), sends ?? NO_LABEL].every((each) => mayTell(each, confinedTo));
  if (isTooMuch) return refuse(NOT_THEIRS(tool.name, confinedTo));
  if (said.decision === "deny")
    return said.reason === undefined || confinedTo !== undefined
      ? refuse("A tool hook denied this call.")
      : refuse(said.reason, declared(tool.name, HOOK_WORDS));
  const most = trustOf(tool, codeMode);
  // Programs of the owner may quote what they have read.
  const notes = confinedTo === undefined ? said.notes : [];
  const isGuarded = trust.untrusted.length > 0;
  const forOthers = isGuarded ? await reasonForOthers(tool, wanted, context) : undefined;
  const reasons = [
    ...(said.decision === "ask" ? [said.reason ?? "a tool hook requires it"] : []),
    ...(tool.asks === undefined ? [] : [tool.asks]),
    ...(forOthers === undefined ? [] : [forOthers]),
    ...(asksBefore(permissions, tool.name) ? [`the persona's \`ask\` list includes ${tool.name}`] : []),
    ...(tool.runsCode === true && codeMode === "asks" ? ["commands have no sandbox"] : []),
    ...((await needsConsentTo(tool, wanted, {
      most,
      trust: withSent(trust, sends),
      chosenAt,
      gate,
      isAsWanted: wanted === params,
    }))
      ? [RULE_OF_TWO]
      : []),
    ...(tool.tells === true && !mayTell(trust, audience) ? [TELLS_OTHERS(audience)] : []),
    ...(isDeniedToAuthor(trust, (pattern) => matches([pattern], tool.name)) ? [DENIED_TO_AUTHOR] : []),
  ];
  if (reasons.length > 0) {
    const proposal = await proposalOf(tool, wanted, context);
    return { kind: "ask", params: wanted, notes, reason: reasons.join("; "), proposal };
  }
  const brings = broughtBefore(tool, codeMode, notes);
  const words = wanted === params ? tool.says?.(wanted) : undefined;
  const isLed = words?.kind === "query" && chosenAt.untrusted.length > 0 && !(await gate.hasBeenHeard(words));
  return {
    kind: "make",
    params: wanted,
    notes,
    brings,
    ...(sends === undefined ? {} : { sends }),
    ...(isGuarded ? { isGuarded } : {}),
    ...(isLed ? { isLed } : {}),
  };
}

interface Choice {
  readonly most: ToolTrust;
  readonly trust: Trust;
  readonly chosenAt: Trust;
  /** Whether no hook has put other words into the call. */
  readonly isAsWanted: boolean;
  readonly gate: Pick<Gate, "hasBeenHeard">;
}

type Sending =
  | { readonly kind: "known"; readonly sends: Label | undefined }
  | { readonly kind: "fault"; readonly reason: string };

/** What cannot be judged is not sent. */
async function whatIsSent(tool: Tool, params: Json, context: ToolContext): Promise<Sending> {
  try {
    return { kind: "known", sends: await tool.sends?.(params, context) };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    return { kind: "fault", reason: `${error.message}. ${error.hint}` };
  }
}

/** What is sent unread had no say in the call, but it is told to the outside. */
function withSent(trust: Trust, sends: Label | undefined): Trust {
  if (sends === undefined) return trust;
  return { ...trust, private: joinLabels(trust, { ...NO_LABEL, private: sends.private }).private };
}

/** The rule of two, except for calls that say nothing of the model's choice: `chosen-words.ts` says which these are. */
async function needsConsentTo(
  tool: Tool,
  params: Json,
  { most, trust, chosenAt, isAsWanted, gate }: Choice,
): Promise<boolean> {
  if (!needsConsent(trust, most)) return false;
  const said = isAsWanted ? tool.says?.(params) : undefined;
  if (said === undefined) return true;
  // Whose words came later had no say. What is private counts as of now: the tool may not be all that sends it.
  const { untrusted } = chosenAt;
  return needsConsent({ ...trust, untrusted }, most) && !(await gate.hasBeenHeard(said));
}

export function proposalOf(tool: Tool, params: Json, context: ToolContext): Promise<Proposal | undefined> {
  return leavingFaults(async () => tool.proposal?.(params, context));
}

function reasonForOthers(
  { asksForOthers }: Tool,
  params: Json,
  context: ToolContext,
): Promise<string | undefined> {
  return leavingFaults(async () =>
    typeof asksForOthers === "function" ? asksForOthers(params, context) : asksForOthers,
  );
}

/** What is wrong with a call is for its own run to say. */
async function leavingFaults<Result>(look: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof CortexError) return undefined;
    throw error;
  }
}

/** The tool as its call with these parameters is judged. */
export function asCalled(tool: Tool, params: Json): Tool {
  return tool.runsProgram?.(params) === true ? { ...tool, runsCode: "unconfined" } : tool;
}

/** What a call brings into the session before it is made: all that is known of it then. */
export function broughtBefore(tool: Tool, mode: CodeMode, notes: readonly string[]): Trust {
  const most = trustOf(tool, mode);
  const { untrusted: _, private: __, ...effects } = most;
  // The results of a program that is not confined are as declared, whatever they say.
  const before = tool.labels === true && !isFree(tool, mode) ? effects : most;
  return joinTrust(declared(tool.name, before), wordsOf(tool, notes));
}

/** What a result brings: its own label, or what its tool declares; and what hooks have added to it. */
export function broughtBy(tool: Tool, mode: CodeMode, result: ToolResult, notes: readonly string[]): Trust {
  const hooks = wordsOf(tool, notes);
  if (result.label !== undefined && !isFree(tool, mode))
    return joinTrust({ ...result.label, outward: false }, hooks);
  const { errorTrust = {} } = tool;
  if (result.isError === true) return joinTrust(declared(tool.name, errorTrust), hooks);
  return tool.labels === true ? joinTrust(declared(tool.name, trustOf(tool, mode)), hooks) : hooks;
}

/** Whether it runs programs that can read and send whatever they like. */
function isFree({ runsCode }: Tool, mode: CodeMode): boolean {
  return runsCode === "unconfined" || (runsCode === true && mode !== "sandboxed");
}

/**
 * A program that is not confined reads and sends whatever it likes. Where the owner wants it so, what lies in the
 * folders counts as the owner's own words: else each command after the first one would need a yes.
 */
function trustOf(tool: Tool, mode: CodeMode): ToolTrust {
  const trust = (tool.trust as ToolTrust | undefined) ?? UNDECLARED;
  const { untrusted, ...known } = trust;
  const isOwn = mode === "plain" && trust.outward !== true;
  return {
    ...known,
    ...(untrusted === true && !isOwn ? { untrusted } : {}),
    ...(isFree(tool, mode) ? { private: true, outward: true } : {}),
  };
}

function wordsOf({ name }: Tool, notes: readonly string[]): Trust {
  return notes.length === 0 ? NO_TRUST : declared(name, HOOK_WORDS);
}

function refuse(reason: string, brings = NO_TRUST): Judgement {
  return { kind: "refuse", reason, brings };
}

function refusalOf({ runsCode }: Tool, mode: CodeMode): string | undefined {
  return runsCode === undefined ? undefined : REFUSALS[mode];
}

/** Why programs are not run, where they are not. */
export const REFUSALS: Partial<Record<CodeMode, string>> = {
  refuses:
    'Commands require a sandbox ("sandbox": "require" in cortex.json), and none is available on this machine.',
  "owner-only":
    "No sandbox available. Turns with messages from anyone but the owner run commands only in a sandbox: " +
    "see `cortex doctor`.",
};

const RULE_OF_TWO =
  "this conversation contains private data and text from others, and the call has an outside effect";

const TELLS_OTHERS = (audience: string): string =>
  `this conversation contains data that is private to others, and ${audience} would read the text`;

const NOT_THEIRS = (tool: string, audience: string): string =>
  `${tool} reads other people's data. This conversation may only use data of ${audience}.`;

const DENIED_TO_AUTHOR = "this conversation contains text by someone who may not use this tool";
