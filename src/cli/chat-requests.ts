/** A line that is typed while the agent asks something, where it is the answer. */
import type { ApprovalView } from "../runtime/views.ts";

export type Reply =
  | { readonly kind: "approve" }
  | { readonly kind: "deny"; readonly reason: string | undefined }
  | { readonly kind: "answer"; readonly text: string };

/**
 * Undefined: it is something else, and goes its usual way. A call is only approved by a yes and nothing beside it:
 * "yes, but …" is no yes to this call. To a question, everything but a command is an answer.
 */
export function replyTo(line: string, { question, options }: ApprovalView): Reply | undefined {
  const said = line.trim();
  if (question !== null) {
    if (said === "" || /^[/!]/.test(said)) return undefined;
    const chosen = /^\d{1,3}$/.test(said) ? options?.[Number(said) - 1] : undefined;
    return { kind: "answer", text: chosen ?? said };
  }
  if (/^(?:y|yes)[.!]?$/i.test(said)) return { kind: "approve" };
  const [isNo, reason = ""] = /^(?:n|no)(?:[,.:!]?\s+([^]+)|[.!]?)$/i.exec(said) ?? [];
  if (isNo === undefined) return undefined;
  return { kind: "deny", reason: reason === "" ? undefined : reason };
}
