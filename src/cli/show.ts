import type { TurnId } from "../model/ids.ts";
import type { UserBody } from "../model/message.ts";
import { fullTurnView } from "../feature/views.ts";
import type { Invocation } from "../feature/command.ts";
import { openLedger, turnMissing } from "../client/ledger.ts";
import type { Printer } from "../terminal/print.ts";
import { count, duration, harmless, indent, moment, shorten, table } from "../terminal/text.ts";

/** Longer arguments and results of tool calls are cut; `--json` prints them in full. */
export const MAX_CALL_LENGTH = 2_000;

type FullTurnView = ReturnType<typeof fullTurnView>;
type CallView = FullTurnView["toolCalls"][number];
type MessageView = FullTurnView["messages"][number];

export async function showTurn({ home, args, print }: Invocation): Promise<void> {
  const [id = ""] = args;
  await using ledger = await openLedger(home);
  const content = await ledger.turns.read(id as TurnId);
  if (content === undefined) throw turnMissing(id);
  const view = fullTurnView(content);
  print.data(view, () => describe(view, print));
}

function describe(view: FullTurnView, print: Printer): string {
  const { usage } = view;
  const facts = table([
    ["turn", print.style("yellow", view.id)],
    ["parent", view.parentId ?? "none"],
    ["children", count(view.childCount, "turn")],
    ["session", view.session],
    ["agent", `${view.agent} (${view.role}, persona ${view.persona})`],
    ["model", `${view.provider}/${view.model}, profile ${view.profile}`],
    ["status", statusOf(view)],
    ["started", moment(view.startedAt)],
    ["took", duration(Date.parse(view.completedAt) - Date.parse(view.startedAt))],
    ["tokens", `${usage.input} in, ${usage.output} out, ${usage.cacheRead} cached`],
    ["cost", view.costUsd === null ? "unknown" : `$${view.costUsd}`],
    ["event", view.sourceEventId ?? "none"],
    ...(view.prunedAt === null ? [] : [["pruned", `${moment(view.prunedAt)}: its content was deleted`]]),
    ["hash", view.hash],
  ]);
  const said = view.messages.map((message) => describeMessage(message, print));
  const calls = view.toolCalls.map((call) => describeCall(call, print));
  return [facts, ...said.filter((part) => part !== ""), ...calls].join("\n\n");
}

function statusOf({ status, type, limitReached }: FullTurnView): string {
  if (type === "compaction") return `${status}, compaction`;
  return limitReached ? "limit reached: its answer is incomplete" : status;
}

/** Empty for a message that only calls tools: the calls are shown separately. */
function describeMessage({ role, content, body, at }: MessageView, print: Printer): string {
  if (content === "") return "";
  const { memory, envelope, extracted, attachments } = (role === "user" ? (body ?? {}) : {}) as UserBody;
  const above = [memory, envelope, extracted, attachments]
    .filter((part) => part !== undefined)
    .map((part) => print.style("dim", harmless(part)));
  const head = `${print.style("bold", role)} ${print.style("dim", moment(at))}`;
  return [head, indent([...above, harmless(content)].join("\n"))].join("\n");
}

function describeCall(
  { name, args, result, status, durationMs, childSession }: CallView,
  print: Printer,
): string {
  const took = durationMs === null ? "" : `, ${duration(durationMs)}`;
  const worker = childSession === null ? "" : `, worker ${childSession}`;
  return [
    `${print.style("bold", `call ${name}`)} ${status}${took}${worker}`,
    indent(print.style("dim", shorten(harmless(JSON.stringify(args)), MAX_CALL_LENGTH))),
    indent(shorten(harmless(result ?? "no result"), MAX_CALL_LENGTH)),
  ].join("\n");
}
