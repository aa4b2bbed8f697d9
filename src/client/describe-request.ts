import type { ApprovalView } from "../feature/views.ts";
import { firstLine, shorten } from "../terminal/text.ts";

/** `cortex approvals show` prints longer arguments in full. */
const MAX_ARGUMENTS_LENGTH = 600;
const MAX_REQUEST_LENGTH = 100;

/** A request as a chat shows it, and what to type. It may come from a relay step or a worker. */
export function describeRequest(request: ApprovalView): string {
  const { id, session, tool, args, reason, question, options } = request;
  const who = isElsewhere(request) ? session : "The agent";
  if (question !== null) {
    const choices = options === null ? [] : options.map((option, at) => `  ${at + 1}. ${option}`);
    const how =
      options === null ? "Your next line is the answer" : "Your next line, or a number, is the answer";
    const other = isElsewhere(request)
      ? " Start a line with a space to send it to the agent of this chat instead."
      : "";
    return [`${who} asks: ${question}`, ...choices, `${how} (${id}).${other}`].join("\n");
  }
  const whole = JSON.stringify(args);
  return [
    `${who} wants to call ${tool ?? "a tool"} ${shorten(whole, MAX_ARGUMENTS_LENGTH)}`,
    ...(whole.length > MAX_ARGUMENTS_LENGTH
      ? [`Truncated: ${whole.length} characters in all. Run \`cortex approvals show ${id}\` to see them.`]
      : []),
    `Approval needed because ${reason ?? "it is configured"}.`,
    `Type yes, or no with a reason; /approve and /deny do the same (${id}).`,
  ].join("\n");
}

/** The request in one line. */
export function summarizeRequest({ tool, args, question }: ApprovalView): string {
  return firstLine(question ?? `${tool ?? ""} ${JSON.stringify(args)}`, MAX_REQUEST_LENGTH);
}

/** The commands that answer it from any terminal. */
export function howTo({ kind, id }: ApprovalView): string {
  return kind === "question"
    ? `Run \`cortex approvals answer ${id} <text>\` to answer.`
    : `Run \`cortex approvals approve ${id}\` or \`cortex approvals deny ${id} [reason]\` to decide.`;
}

/** The request and the commands that answer it. */
export function describeWaiting(request: ApprovalView): string {
  const wanted = request.kind === "question" ? "answer" : "approval";
  return `${request.session} is waiting for your ${wanted}: ${summarizeRequest(request)}\n${howTo(request)}`;
}

/** Whether the request comes from a relay step or a worker instead of the chat's own agent. */
export function isElsewhere({ session, chat }: ApprovalView): boolean {
  return session !== chat;
}
