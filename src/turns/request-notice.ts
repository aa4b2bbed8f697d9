/** What people are told who wait elsewhere than in a chat of Cortex, when a turn asks them something. */
import type { Json } from "../model/json.ts";
import { parseSessionKey, type SessionKey } from "../model/session-key.ts";
import type { NewApproval } from "../store/store.ts";

/** Of a call that is longer, the beginning is shown: `cortex approvals show` has all of it. */
const MAX_SHOWN_ARGUMENTS = 600;

/** What is asked for whoever decides. */
interface Request {
  readonly question?: string;
  readonly options?: readonly string[];
  readonly tool?: string;
  readonly args?: Json;
  readonly reason?: string;
}

/**
 * Only the owner can approve a call, and what it would do may be nobody else's business: in a conversation with others, they
 * are told no more than that it waits.
 */
export function requestNotice(
  { id, kind, request }: Pick<NewApproval, "id" | "kind" | "request">,
  { session, isByOthers }: { readonly session: SessionKey; readonly isByOthers: boolean },
): string {
  const who = askerOf(session);
  const {
    question,
    options = [],
    tool,
    args,
    reason = "it was configured so",
  } = request as unknown as Request;
  if (kind === "question") {
    const choices = options.map((option, at) => `${at + 1}. ${option}`);
    return [
      `❓ ${who} asks: ${question ?? "?"}`,
      ...choices,
      `Reply to this message, or write \`/answer ${id} <text>\`.`,
    ].join("\n");
  }
  if (isByOthers) return `⏸️ ${who} waits for the owner's approval of a call of ${tool ?? "a tool"}.`;
  const whole = JSON.stringify(args ?? {});
  const shown =
    whole.length <= MAX_SHOWN_ARGUMENTS ? whole : `${whole.slice(0, MAX_SHOWN_ARGUMENTS).toWellFormed()}…`;
  return [
    `⏸️ ${who} wants to call ${tool ?? "a tool"}:`,
    `\`${shown}\``,
    `You are asked because ${reason}.`,
    `Write \`/approve ${id}\` or \`/deny ${id} [reason]\`.`,
  ].join("\n");
}

function askerOf(session: SessionKey): string {
  const key = parseSessionKey(session);
  return key.kind === "relay" ? `*${key.slot}* of \`${key.relay}\`` : "The agent";
}
