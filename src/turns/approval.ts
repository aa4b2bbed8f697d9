/** Requests to people about a call: what is asked, how they are told, and what the answer means for the call. */
import { createHash } from "node:crypto";

import type { ApprovalId } from "../model/ids.ts";
import { canonicalJson, type Json } from "../model/json.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Approval, NewApproval } from "../store/store.ts";
import type { Suspension } from "./journal.ts";
import { parseSessionKey, type SessionKey } from "../model/session-key.ts";

/** How long an approval can be given. A question waits without limit. */
export const APPROVAL_MS = 3_600_000;

interface CallAsked {
  readonly tool: string;
  readonly args: Json;
  readonly workspace: string;
}

/** Identifies the approved call: the same call in another workspace or with other parameters is a different one. */
export function hashOfCall({ tool, args, workspace }: CallAsked): string {
  return createHash("sha256")
    .update(canonicalJson([tool, args, workspace]))
    .digest("hex");
}

/** A call that waits for a person, as the journal keeps it. */
export interface Asked {
  readonly approval: ApprovalId;
  readonly callHash: string;
  readonly request: Json;
  readonly expiresAtMs: number | null;
  /** What hooks tell the model. */
  readonly notes: readonly string[];
}

/** The requests in the commit that suspends the run. */
export function requestsOf(suspensions: readonly Suspension[]): NewApproval[] {
  return suspensions.flatMap(({ kind, detail }) => {
    if (kind !== "approval" && kind !== "question") return [];
    const { approval: id, callHash, request, expiresAtMs } = detail as unknown as Asked;
    return [{ id, kind, callHash, request, expiresAtMs: expiresAtMs ?? undefined }];
  });
}

type Resolved =
  | { readonly kind: "wait" }
  | { readonly kind: "result"; readonly result: ToolResult }
  /** Make the call as approved. */
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
      const { args } = approval.request as { args: Json };
      const agreed = { tool: call.tool, args, workspace: call.workspace };
      const isSame = approval.callHash === asked.callHash && approval.callHash === hashOfCall(agreed);
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

/** Longer calls are cut; `cortex approvals show` prints them in full. */
const MAX_SHOWN_ARGUMENTS = 600;

/** The content of a request. */
interface Request {
  readonly question?: string;
  readonly options?: readonly string[];
  readonly tool?: string;
  readonly args?: Json;
  readonly reason?: string;
}

/**
 * Tells the sender of a message, on their own channel, what the turn asks. Only the owner can approve a call, and its
 * details may be private: others are told only that it waits.
 */
export function requestNotice(
  { id, kind, request }: Pick<NewApproval, "id" | "kind" | "request">,
  { session, isByOthers }: { readonly session: SessionKey; readonly isByOthers: boolean },
): string {
  const who = askerOf(session);
  const { question, options = [], tool, args, reason = "it is configured" } = request as unknown as Request;
  if (kind === "question") {
    const choices = options.map((option, at) => `${at + 1}. ${option}`);
    return [
      `❓ ${who} asks: ${question ?? "?"}`,
      ...choices,
      `Reply to this message, or write \`/answer ${id} <text>\`.`,
    ].join("\n");
  }
  if (isByOthers) return `⏸️ ${who} is waiting for the owner to approve a call to ${tool ?? "a tool"}.`;
  const whole = JSON.stringify(args ?? {});
  const shown =
    whole.length <= MAX_SHOWN_ARGUMENTS ? whole : `${whole.slice(0, MAX_SHOWN_ARGUMENTS).toWellFormed()}…`;
  return [
    `⏸️ ${who} wants to call ${tool ?? "a tool"}:`,
    `\`${shown}\``,
    `Approval needed because ${reason}.`,
    `Write \`/approve ${id}\` or \`/deny ${id} [reason]\`.`,
  ].join("\n");
}

function askerOf(session: SessionKey): string {
  const key = parseSessionKey(session);
  return key.kind === "relay" ? `*${key.slot}* of \`${key.relay}\`` : "The agent";
}
