/** Parses a line typed while a request is pending. */
import { isElsewhere } from "../client/describe-request.ts";
import type { ApprovalView } from "../feature/approval-view.ts";

export type RequestReply =
  | { readonly kind: "approve" }
  | { readonly kind: "deny"; readonly reason: string | undefined }
  | { readonly kind: "answer"; readonly text: string };

/**
 * Undefined: not a reply; the line is handled as usual. Only a bare yes approves a call: "yes, but …" does not approve
 * this call. Anything but a command answers a question; if a relay step or a worker asks it, a leading space makes the
 * line a message to the agent of this chat instead.
 */
export function parseRequestReply(line: string, request: ApprovalView): RequestReply | undefined {
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
