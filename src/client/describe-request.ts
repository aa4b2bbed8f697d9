import type { ApprovalView } from "../feature/approval-view.ts";
import { renderCall, renderOptions, renderQuestion } from "../model/request.ts";
import { reveal } from "../model/reveal.ts";
import { shorten } from "../terminal/text.ts";

/** `cortex approvals show` prints longer calls in full. */
const MAX_CALL_LENGTH = 600;
const MAX_REQUEST_LENGTH = 100;

/** Rewrites commands to work as typed. Text from others is left as it is. */
type Advice = (text: string) => string;

/** A request as a chat shows it, and what to type. It may come from a relay step or a worker. */
export function describeRequest(request: ApprovalView, advice: Advice = String): string {
  const { id, session, tool, question, options, digest } = request;
  const who = isElsewhere(request) ? reveal(session) : "The agent";
  if (question !== null) {
    const choices = renderOptions(options ?? []).map((option) => `  ${option}`);
    const how =
      options === null ? "Your next line is the answer" : "Your next line, or a number, is the answer";
    const other = isElsewhere(request)
      ? " Start a line with a space to send it to the agent of this chat instead."
      : "";
    return [`${who} asks: ${renderQuestion(question)}`, ...choices, `${how} (${id}).${other}`].join("\n");
  }
  const seeAll = advice(`run \`cortex approvals show ${id}\``);
  return [
    `${who} wants to call ${reveal(tool ?? "a tool")}. It needs your approval:`,
    renderCall(asRequest(request), { digest, max: MAX_CALL_LENGTH, seeAll }),
    `Type yes, or no with a reason; /approve and /deny do the same (${id}).`,
  ].join("\n");
}

/** The fields of a view that are not null. */
function asRequest(view: ApprovalView): Parameters<typeof renderCall>[0] {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== null));
}

/** The request in one line. */
export function summarizeRequest({ tool, args, question }: ApprovalView): string {
  const whole = question ?? `${tool ?? ""} ${JSON.stringify(args)}`;
  const shown = reveal(shorten(whole, MAX_REQUEST_LENGTH));
  return shorten(shown, MAX_REQUEST_LENGTH);
}

/** The commands that answer it from any terminal. */
export function howTo({ kind, id }: ApprovalView): string {
  return kind === "question"
    ? `Run \`cortex approvals answer ${id} <text>\` to answer.`
    : `Run \`cortex approvals approve ${id}\` or \`cortex approvals deny ${id} [reason]\` to decide.`;
}

/** The request and the commands that answer it. */
export function describeWaiting(request: ApprovalView, advice: Advice = String): string {
  const wanted = request.kind === "question" ? "answer" : "approval";
  return `${reveal(request.session)} is waiting for your ${wanted}: ${summarizeRequest(request)}\n${advice(howTo(request))}`;
}

/** Whether the request comes from a relay step or a worker instead of the chat's own agent. */
export function isElsewhere({ session, chat }: ApprovalView): boolean {
  return session !== chat;
}
