/** What people are asked: who may answer, what counts as an answer, and what becomes of what nobody answers. */
import { CortexError } from "../model/errors.ts";
import type { ApprovalId, EventId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { allows, type Caller, scopeMissing } from "../model/scopes.ts";
import type { SessionKey } from "../model/session-key.ts";
import { labelNames } from "../model/label-names.ts";
import { readTrust } from "../model/trust.ts";
import { truncate } from "../model/truncate.ts";
import { WakeLoop } from "../model/wake-loop.ts";
import type { Approval, ApprovalAnswer, Ledger, Store } from "../store/store.ts";

/** Who answers. Only the owner decides what agents may do; what others write is no decision. */
export interface Answerer {
  readonly name: string;
  readonly isOwner: boolean;
  /** It is their own work that asks: they may answer its questions, and approve nothing. */
  readonly isAsked?: boolean;
  /** The name of the scoped token by which they came. */
  readonly token?: string;
}

/** A token speaks for its person. Answering a question is like writing a message; approving is not. */
export function answererFor(caller: Caller): Answerer {
  const { principal: name, token } = caller;
  return { name, isOwner: allows(caller, "approve"), isAsked: true, ...present({ token }) };
}

type Decision =
  | ({ readonly kind: "approve" } & Seen)
  | ({ readonly kind: "deny"; readonly reason?: string | undefined } & Seen)
  | { readonly kind: "answer"; readonly text: string; readonly event?: EventId | undefined };

interface Seen {
  /** Of the request that the person has seen. */
  readonly digest?: string | undefined;
  /** By which it came. The same one again decides nothing again. */
  readonly event?: EventId | undefined;
}

/** What is said to an agent beside a no, or as the answer to its question. */
export const MAX_ANSWER_LENGTH = 20_000;

/**
 * Answers a request, once. Throws as `approvals.answer` of the store does, `approval_forbidden`, and `approval_changed` if
 * the person has seen another request. An approval records the labels of the session, because it does not hold for a
 * session that has got text from others since the request.
 */
export async function decide(
  id: string,
  decision: Decision,
  { name, isOwner, isAsked = false, token }: Answerer,
  store: Pick<Store, "approvals" | "sessions">,
): Promise<Approval> {
  if (!isOwner && !(isAsked && decision.kind === "answer"))
    throw token === undefined ? forbidden(name) : scopeMissing({ token }, "approve");
  const by = { by: name, ...present({ token }) };
  if (decision.kind === "answer") return store.approvals.answer(id as ApprovalId, answerOf(decision, by));
  const approval = await store.approvals.get(id as ApprovalId);
  if (approval === undefined) return store.approvals.answer(id as ApprovalId, answerOf(decision, by));
  const { callHash, answer } = approval;
  const { kind, digest = callHash } = decision;
  if (digest !== callHash) throw changed(approval, digest);
  const session = await store.sessions.get(approval.session);
  const labels = labelNames(readTrust(session?.settings ?? {}));
  const isAgain =
    kind === "approve" && answer?.kind === "approve" && answer.by === name && answer.event === decision.event;
  const given = isAgain ? answer : { ...answerOf(decision, by), ...(kind === "approve" ? { labels } : {}) };
  return store.approvals.answer(approval.id, given);
}

/** The request that a person means who names none: the only one that is open in a session. */
export async function onlyOpen(
  session: SessionKey,
  kind: Approval["kind"],
  ledger: Ledger,
): Promise<ApprovalId> {
  const { items } = await ledger.approvals.list({ session, state: "open" });
  const open = items.filter((approval) => approval.kind === kind);
  if (open.length === 1) return open[0]!.id;
  const what = kind === "approval" ? "approval" : "answer";
  throw open.length === 0
    ? new CortexError("approval_unknown", `No request for an ${what} is pending in ${session}`, {
        hint: "`cortex approvals` lists pending requests.",
      })
    : new CortexError("request_invalid", `${open.length} requests for an ${what} are pending in ${session}`, {
        hint: `Give the id of one: ${open.map(({ id }) => id).join(", ")}.`,
      });
}

function answerOf(decision: Decision, by: Pick<ApprovalAnswer, "by" | "token">): ApprovalAnswer {
  const event = present({ event: decision.event });
  switch (decision.kind) {
    case "approve":
      return { kind: "approve", ...by, ...event };
    case "deny": {
      const { reason } = decision;
      return { kind: "deny", ...by, ...(reason === undefined ? {} : { reason: bounded(reason) }), ...event };
    }
    case "answer":
      return { kind: "answer", ...by, text: bounded(decision.text), ...event };
  }
}

function bounded(text: string): string {
  if (text.length <= MAX_ANSWER_LENGTH) return text;
  throw new CortexError(
    "request_invalid",
    `The answer has ${text.length} characters (limit ${MAX_ANSWER_LENGTH})`,
    { hint: "Shorten it, or put it into a file that the agent can read." },
  );
}

function changed({ id, callHash }: Approval, digest: string): CortexError {
  return new CortexError(
    "approval_changed",
    `Request ${id} does not match: its digest is ${callHash}, not ${JSON.stringify(truncate(digest, callHash.length))}`,
    { hint: `No decision was recorded. Review it with \`cortex approvals show ${id}\`.` },
  );
}

function forbidden(name: string): CortexError {
  return new CortexError("approval_forbidden", `${name} is not allowed to decide this`, {
    hint: "Only the owner can, with `cortex approvals` or with /approve in the owner's own chat.",
  });
}

/** Wake-ups can be lost; this is how long a request then stays open beyond its time. */
const POLL_MS = 60_000;
/** After a failure. */
const RETRY_MS = 5_000;

/** Closes what nobody has answered in time, so that no turn waits for ever. */
export function watchApprovalDeadlines(
  store: Pick<Store, "approvals" | "onWake">,
  clock: () => number,
): AsyncDisposable {
  const loop = new WakeLoop({
    async round() {
      const nextMs = await store.approvals.nextExpiryMs();
      if (nextMs === undefined || nextMs > clock()) return (nextMs ?? Infinity) - clock();
      await store.approvals.expire();
      return 0;
    },
    listen: (wake) => store.onWake("runs", wake),
    pollMs: POLL_MS,
    retryMs: RETRY_MS,
  });
  loop.start();
  return loop;
}
