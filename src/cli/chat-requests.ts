/** A line that is typed while the agent asks something, where it is the answer. */
import { isElsewhere } from "../client/describe-request.ts";
import type { ApprovalView } from "../feature/views.ts";

export type RequestReply =
  | { readonly kind: "approve" }
  | { readonly kind: "deny"; readonly reason: string | undefined }
  | { readonly kind: "answer"; readonly text: string };

/**
 * Undefined: it is something else, and goes its usual way. A call is only approved by a yes and nothing beside it:
 * "yes, but …" is no yes to this call. To a question, everything but a command is an answer; where it is not
 * the agent of this chat that asks, a space before it makes it a message to that agent.
 */
export function parseReply(line: string, request: ApprovalView): RequestReply | undefined {
  const { question, options } = request;
  const said = line.trim();
  if (question !== null) {
    if (said === "" || /^[/!]/.test(said) || (isElsewhere(request) && /^\s/.test(line))) return undefined;
    const chosen = /^\d{1,3}$/.test(said) ? options?.[Number(said) - 1] : undefined;
    return { kind: "answer", text: chosen ?? said };
  }
  if (/^(?:y|yes)[.!]?$/i.test(said)) return { kind: "approve" };
  const [isNo, reason = ""] = /^(?:n|no)(?:[,.:!]?\s+([^]+)|[.!]?)$/i.exec(said) ?? [];
  if (isNo === undefined) return undefined;
  return { kind: "deny", reason: reason === "" ? undefined : reason };
}
