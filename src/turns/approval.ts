/** Requests to people about a call: what is asked, how they are told, and what the answer means for the call. */
import { createHash } from "node:crypto";

import type { ApprovalId, TurnId } from "../model/ids.ts";
import { canonicalJson, type Json } from "../model/json.ts";
import { isOwner, type Principal } from "../model/principal.ts";
import {
  type FileDigest,
  renderCall,
  renderOptions,
  renderQuestion,
  type Request,
} from "../model/request.ts";
import { requestButtons } from "../model/request-buttons.ts";
import type { Button } from "../model/extras.ts";
import { reveal } from "../model/reveal.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Approval, NewApproval, Store } from "../store/store.ts";
import type { Suspension } from "./journal.ts";
import type { TurnPorts } from "./turn-ports.ts";
import { parseSessionKey, type SessionKey } from "../model/session-key.ts";

/** How long an approval can be given. A question waits without limit. */
export const APPROVAL_MS = 3_600_000;

interface CallAsked {
  readonly tool: string;
  readonly args: Json;
  readonly workspace: string;
}

/** What an approval is bound to besides the call. */
interface Binding {
  readonly labels: readonly string[];
  readonly files: readonly FileDigest[];
}

/** Identifies the approved call: the same call in another workspace or with other parameters is a different one. */
export function hashOfCall({ tool, args, workspace }: CallAsked, binding?: Binding): string {
  const bound =
    binding === undefined ? [] : [{ labels: [...binding.labels], files: binding.files.map(bare) }];
  return createHash("sha256")
    .update(canonicalJson([tool, args, workspace, ...bound]))
    .digest("hex");
}

function bare({ path, sha256 }: FileDigest): { path: string; sha256: string | null } {
  return { path, sha256 };
}

/** Undefined: an earlier version asked, and bound the approval to the call alone. */
export function bindingOf({ labels, files = [] }: Request): Binding | undefined {
  return labels === undefined ? undefined : { labels, files };
}

/** A call that waits for a person, as the journal keeps it. */
export interface Asked {
  readonly approval: ApprovalId;
  /** Of the call alone. */
  readonly callHash: string;
  readonly request: Json;
  readonly expiresAtMs: number | null;
  /** An approval of the same call that no longer holds. */
  readonly replaces?: ApprovalId;
  /** What hooks tell the model. */
  readonly notes: readonly string[];
}

/** The requests in the commit that suspends the run. */
export function requestsOf(suspensions: readonly Suspension[]): NewApproval[] {
  return suspensions.flatMap(({ kind, detail }) => {
    if (kind !== "approval" && kind !== "question") return [];
    const { approval: id, callHash, request, expiresAtMs, replaces } = detail as unknown as Asked;
    return [
      {
        id,
        kind,
        callHash,
        request,
        expiresAtMs: expiresAtMs ?? undefined,
        ...(replaces === undefined ? {} : { replaces }),
      },
    ];
  });
}

type Resolved =
  | { readonly kind: "wait" }
  | { readonly kind: "result"; readonly result: ToolResult }
  /** Make the call as approved, if what it is bound to is still as it was. */
  | { readonly kind: "make"; readonly args: Json }
  /** An earlier run has started the call. */
  | { readonly kind: "begun" };

/** What the state of a request means for its call. */
export function resolve(approval: Approval | undefined, asked: Asked, call: CallAsked): Resolved {
  switch (approval?.state) {
    case undefined:
    case "open":
      return { kind: "wait" };
    case "answered":
      return {
        kind: "result",
        result: { text: approval.answer?.kind === "answer" ? approval.answer.text : "" },
      };
    case "denied":
      return refused(`A person denied this call${reasonOf(approval)}.`);
    case "expired":
      return refused("This call was not approved in time. Continue without it, or request it again.");
    case "void":
      return refused("This call is no longer needed.");
    case "approved": {
      const request = approval.request as unknown as Request & { readonly args: Json };
      const { args } = request;
      const agreed = { tool: call.tool, args, workspace: call.workspace };
      const isSame =
        asked.callHash === hashOfCall(agreed) && approval.callHash === hashOfCall(agreed, bindingOf(request));
      return isSame
        ? { kind: "make", args }
        : refused("This call differs from the approved one. Request it again.");
    }
    case "used":
      return { kind: "begun" };
  }
}

function reasonOf({ answer }: Approval): string {
  return answer?.kind === "deny" && answer.reason !== undefined ? `: ${answer.reason}` : "";
}

function refused(text: string): Resolved {
  return { kind: "result", result: { text, isError: true } };
}

/** Whether a person has caused as many open requests as they may, with those of this turn. The owner may cause any number. */
export async function isAskingTooMuch(
  { principal, turn, own }: { readonly principal: Principal; readonly turn?: TurnId; readonly own: number },
  {
    store,
    settings,
  }: {
    readonly settings: Pick<TurnPorts["settings"], "config">;
    readonly store: { readonly approvals: Pick<Store["approvals"], "countOpen"> };
  },
): Promise<boolean> {
  if (isOwner(principal)) return false;
  const others = await store.approvals.countOpen(principal, turn);
  return own + others >= settings.config().people.openApprovals;
}

/** How much of a call a message shows; `cortex approvals show` prints all of it. */
const MAX_CALL_IN_NOTICE = 600;

/**
 * Tells the sender of a message, on their own channel, what the turn asks. Only the owner can approve a call, and its
 * details may be private: others are told only that it waits. The last line says how to decide by text.
 */
export function requestNotice(
  { id, kind, callHash, request }: Pick<NewApproval, "id" | "kind" | "callHash" | "request">,
  { session, isByOthers }: { readonly session: SessionKey; readonly isByOthers: boolean },
): { readonly text: string; readonly buttons: readonly Button[] } {
  const who = askerOf(session);
  const call = request as unknown as Request;
  const { question, options, tool } = call;
  const buttons = requestButtons(id, call);
  if (kind === "question") {
    const lines = [
      `❓ ${who} asks: ${renderQuestion(question ?? "?")}`,
      ...renderOptions(options),
      `Reply to this message, or write \`/answer ${id} <text>\`.`,
    ];
    return { text: lines.join("\n"), buttons };
  }
  if (isByOthers) {
    const text = `⏸️ ${who} is waiting for the owner to approve a call to ${reveal(tool ?? "a tool")}.`;
    return { text, buttons: [] };
  }
  const shown = renderCall(call, {
    digest: callHash,
    max: MAX_CALL_IN_NOTICE,
    seeAll: `run cortex approvals show ${id}`,
  });
  const lines = [
    `⏸️ ${who} wants to call ${reveal(tool ?? "a tool")}. It needs your approval:`,
    ...fenced(shown),
    `Write \`/approve ${id}\` or \`/deny ${id} [reason]\`.`,
  ];
  return { text: lines.join("\n"), buttons };
}

/** As code, so that nothing in it is taken for formatting; no run of backticks in it ends the fence. */
function fenced(text: string): string[] {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return [fence, text, fence];
}

function askerOf(session: SessionKey): string {
  const key = parseSessionKey(session);
  return key.kind === "relay" ? `*${key.slot}* of \`${key.relay}\`` : "The agent";
}
