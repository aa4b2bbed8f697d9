/** The JSON form of a request for approval. Apart from the other views, because it renders text, and they load nothing. */
import { MAX_RENDERED_LENGTH, renderRequest, type Request } from "../model/request.ts";
import type { Approval } from "../store/store.ts";
import { isoTime } from "./views.ts";

export type ApprovalView = ReturnType<typeof approvalView>;

/** What a person reads is in `rendered`; the rest is as agents and others wrote it. */
export function approvalView(approval: Approval) {
  const request = approval.request as Request;
  const { tool, args, reason, question, options, labels, files, causedBy } = request;
  const { answer } = approval;
  return {
    id: approval.id,
    kind: approval.kind,
    session: approval.session,
    chat: approval.chat,
    turnId: approval.turn,
    agent: request.agent ?? null,
    workspace: request.workspace ?? null,
    tool: typeof tool === "string" ? tool : null,
    args: args ?? null,
    reason: typeof reason === "string" ? reason : null,
    again: request.again ?? null,
    principal: request.principal ?? null,
    labels: labels === undefined ? null : [...labels],
    causedBy: causedBy ?? null,
    files: files === undefined ? null : [...files],
    diff: request.diff ?? null,
    digest: approval.callHash,
    rendered: renderRequest(request, { digest: approval.callHash, max: MAX_RENDERED_LENGTH }),
    question: typeof question === "string" ? question : null,
    options: Array.isArray(options) ? options.map(String) : null,
    status: approval.state,
    answer:
      answer?.kind === "answer" ? answer.text : answer?.kind === "deny" ? (answer.reason ?? null) : null,
    answeredBy: answer?.by ?? null,
    askedAt: isoTime(approval.askedAtMs),
    expiresAt: approval.expiresAtMs === undefined ? null : isoTime(approval.expiresAtMs),
    answeredAt: approval.answeredAtMs === undefined ? null : isoTime(approval.answeredAtMs),
  };
}
