/** Requests of agents to people: tool calls to approve and questions to answer. */
import { CortexError } from "../model/errors.ts";
import type { ApprovalId } from "../model/ids.ts";
import { approvalView } from "../feature/approval-view.ts";
import { pageOf } from "../feature/page.ts";
import { ask } from "../client/ask.ts";
import { renderRequest, type Request } from "../model/request.ts";
import type { Invocation } from "../feature/command.ts";
import { howTo, summarizeRequest } from "../client/describe-request.ts";
import { limitOf, openLedger } from "../client/ledger.ts";
import { needServer } from "../client/server.ts";
import { moment, table } from "../terminal/text.ts";

export async function listApprovals(given: Invocation): Promise<void> {
  const limit = limitOf(given);
  const all = given.options["all"] === true;
  await using ledger = await openLedger(given.home);
  const page = pageOf(
    await ledger.approvals.list({ limit, ...(all ? {} : { state: "open" }) }),
    approvalView,
  );
  given.print.data(page, () =>
    page.items.length === 0
      ? all
        ? "No requests."
        : "No pending requests."
      : table(
          page.items.map((item) => [
            item.id,
            moment(item.askedAt),
            item.status,
            item.session,
            summarizeRequest(item),
          ]),
        ),
  );
}

export async function showApproval({ home, args, print }: Invocation): Promise<void> {
  await using ledger = await openLedger(home);
  const [id = ""] = args;
  const approval = await ledger.approvals.get(id as ApprovalId);
  if (approval === undefined) throw approvalUnknown(id);
  const view = approvalView(approval);
  print.data(view, () =>
    [
      table([
        [view.kind, view.id],
        ["session", view.session],
        ["turn", view.turnId],
        ["asked", moment(view.askedAt)],
        ["state", view.status],
        ...(view.status === "open" && view.expiresAt !== null ? [["expires", moment(view.expiresAt)]] : []),
      ]),
      renderRequest(approval.request as Request, { digest: view.digest }),
      ...(view.status === "open" ? [print.advice(howTo(view))] : []),
    ].join("\n\n"),
  );
}

export async function approve(given: Invocation): Promise<void> {
  await decide(given, { decision: "approve", ...seen(given) }, "Approved");
}

export async function deny(given: Invocation): Promise<void> {
  const reason = given.args[1];
  await decide(
    given,
    { decision: "deny", ...(reason === undefined ? {} : { reason }), ...seen(given) },
    "Denied",
  );
}

function seen({ options: { digest } }: Invocation): { readonly digest?: unknown } {
  return digest === undefined ? {} : { digest };
}

export async function sendAnswer({ home, args, print }: Invocation): Promise<void> {
  const [id = "", answer] = args;
  const server = await needServer(home);
  const path = `/api/questions/${encodeURIComponent(id)}`;
  const { body } = await ask(server, { method: "POST", path, body: { answer } });
  print.data(body, () => `Answered ${id}.`);
}

async function decide({ home, args, print }: Invocation, body: object, done: string): Promise<void> {
  const [id = ""] = args;
  const server = await needServer(home);
  const path = `/api/approvals/${encodeURIComponent(id)}`;
  const reply = await ask(server, { method: "POST", path, body });
  print.data(reply.body, () => `${done} ${id}.`);
}

function approvalUnknown(id: string): CortexError {
  return new CortexError("approval_unknown", `Unknown request "${id.slice(0, 80)}"`, {
    hint: "Run `cortex approvals --all` to list requests.",
  });
}
