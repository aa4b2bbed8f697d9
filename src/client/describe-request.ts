import type { ApprovalView } from "../feature/views.ts";
import { firstLine, shorten } from "../terminal/text.ts";

/** A command that is longer is looked at with `cortex approvals show`. */
const MAX_ARGUMENTS_LENGTH = 600;
const MAX_REQUEST_LENGTH = 100;

/** What an agent asks, in a chat, and what to type. It may be a step of a relay that asks, or a worker. */
export function describeRequest(request: ApprovalView): string {
  const { id, session, tool, args, reason, question, options } = request;
  const who = isElsewhere(request) ? session : "The agent";
  if (question !== null) {
    const choices = options === null ? [] : options.map((option, at) => `  ${at + 1}. ${option}`);
    const how = options === null ? "Your next line answers it" : "Your next line, or a number, answers it";
    const other = isElsewhere(request)
      ? " A line that begins with a space goes to the agent of this chat."
      : "";
    return [`${who} asks: ${question}`, ...choices, `${how} (${id}).${other}`].join("\n");
  }
  const whole = JSON.stringify(args);
  return [
    `${who} wants to call ${tool ?? "a tool"} ${shorten(whole, MAX_ARGUMENTS_LENGTH)}`,
    ...(whole.length > MAX_ARGUMENTS_LENGTH
      ? [`This is the beginning of ${whole.length} characters. \`cortex approvals show ${id}\` shows all.`]
      : []),
    `You are asked because ${reason ?? "it was configured so"}.`,
    `Type yes, or no and why; /approve and /deny do the same (${id}).`,
  ].join("\n");
}

/** In one line. */
export function what({ tool, args, question }: ApprovalView): string {
  return firstLine(question ?? `${tool ?? ""} ${JSON.stringify(args)}`, MAX_REQUEST_LENGTH);
}

/** The commands that answer it, from anywhere. */
export function howTo({ kind, id }: ApprovalView): string {
  return kind === "question"
    ? `\`cortex approvals answer ${id} <text>\` answers it.`
    : `\`cortex approvals approve ${id}\` or \`cortex approvals deny ${id} [reason]\` decides it.`;
}

/** The request and the commands that answer it. */
export function describeWaiting(request: ApprovalView): string {
  const wanted = request.kind === "question" ? "answer to" : "yes to";
  return `${request.session} waits for your ${wanted}: ${what(request)}\n${howTo(request)}`;
}

/** Whether the request comes from a relay step or a worker instead of the chat's own agent. */
export function isElsewhere({ session, chat }: ApprovalView): boolean {
  return session !== chat;
}
