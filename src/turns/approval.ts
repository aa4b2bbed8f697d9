/** What a person is asked about a call, and what the answer means for it. */
import { createHash } from "node:crypto";

import type { ApprovalId } from "../model/ids.ts";
import { canonicalJson, type Json } from "../model/json.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Approval, NewApproval } from "../store/store.ts";
import type { Suspension } from "./journal.ts";

/** How long an approval can be given. A question waits for its answer as long as it takes. */
export const APPROVAL_MS = 3_600_000;

interface CallAsked {
  readonly tool: string;
  readonly args: Json;
  readonly workspace: string;
}

/** What exactly is agreed to: the same call elsewhere, or with other parameters, is another one. */
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
  /** What hooks have said to the model. */
  readonly notes: readonly string[];
}

/** What is asked in the commit that suspends the run. */
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
  /** To be made as it was agreed to. */
  | { readonly kind: "make"; readonly args: Json }
  /** Was taken up before. */
  | { readonly kind: "begun" };

/** What a request has come to, for the call that it was made for. */
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
      return refused(`A person has refused this call${reasonOf(approval)}.`);
    case "expired":
      return refused("Nobody has agreed to this call in time. Go on without it, or ask for it again.");
    case "void":
      return refused("This call is not wanted any more.");
    case "approved": {
      const { args } = approval.request as { args: Json };
      const agreed = { tool: call.tool, args, workspace: call.workspace };
      const isSame = approval.callHash === asked.callHash && approval.callHash === hashOfCall(agreed);
      return isSame
        ? { kind: "make", args }
        : refused("This call is another one than the one that was agreed to. Ask for it again.");
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
