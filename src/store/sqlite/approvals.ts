import type { Database } from "better-sqlite3";

import type { ApprovalId } from "../../model/ids.ts";
import type { ApprovalAnswer, ApprovalState, AuditKind } from "../store.ts";
import type { HeldDeliveries } from "./approval-requests.ts";
import { prepareAudit, withToken } from "./audit.ts";
import { leaseCodec, prepareHeld } from "./held.ts";
import { prepareInsertDeliveries } from "./insert-delivery.ts";
import { type OperationTime, operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareSessionRun } from "./session-run.ts";
import { parseJson } from "./row.ts";
import { prepareNameOf, prepareShowDecision } from "./show-decision.ts";
import { json, record, text, textOf } from "./wire.ts";

interface ApprovalRow {
  readonly key: number;
  readonly run: number;
  readonly kind: "approval" | "question";
  readonly state: ApprovalState;
  readonly answer: string | null;
  readonly expires_ms: number;
  /** The turn of the run that asked. */
  readonly turn: number;
  readonly turn_id: string;
  readonly call_hash: string;
  readonly tool: string | null;
  /** Of an answer: what is sent once it is decided. */
  readonly held: string | null;
}

const STATE_AFTER = { approve: "approved", deny: "denied", answer: "answered" } as const;

/** Answers that do not fit the kind of a request. */
const UNFIT: Readonly<Record<string, string>> = { question: "approve", approval: "answer" };

export const answerApproval = operation(
  record({ id: text, kind: textOf<ApprovalAnswer["kind"]>(), answer: json }),
  (db) => {
    const find = prepareFind(db);
    const settle = db.prepare("update approval set state = ?, answer = ?, answered_ms = ? where key = ?");
    const changes = prepareRecorder(db);
    const wakeAsker = prepareWakeAsker(db);
    const sendHeld = prepareSendHeld(db);
    const showDecision = prepareShowDecision(db);
    const nameOf = prepareNameOf(db);
    const audit = prepareAudit(db);
    return ({ id, kind, answer }, moment): null | Refusal => {
      const approval = find(id);
      if (approval instanceof Refusal) return approval;
      if (approval.answer === answer) return null; // the same call came before
      const refused = checkOpen(id, approval, kind, moment.nowMs);
      if (refused !== undefined) return refused;
      const state = STATE_AFTER[kind];
      settle.run(state, answer, moment.nowMs, approval.key);
      changes.approval(approval.key, state);
      wakeAsker(approval.run, moment);
      sendHeld(approval, state, moment);
      const given = parseJson(answer) as ApprovalAnswer;
      const { by, token } = given;
      showDecision(approval.key, { state, by: nameOf(given), said: saidIn(given) }, moment);
      const detail = withToken(subjectOf(approval), token);
      audit({ principal: by, kind: auditKind(approval, kind), object: id, detail, atMs: moment.nowMs });
      return null;
    };
  },
);

export const useApproval = operation(record({ lease: leaseCodec, run: text, id: text }), (db) => {
  const findHeld = prepareHeld(db);
  const find = prepareFind(db);
  const use = db.prepare("update approval set state = 'used' where key = ?");
  const changes = prepareRecorder(db);
  return ({ lease, run, id }): boolean | Refusal => {
    const held = findHeld(lease, run);
    if (held instanceof Refusal) return held;
    const approval = find(id);
    if (approval instanceof Refusal) return approval;
    if (approval.turn !== held.turn) return notOfTurn(id, held.turn_id);
    if (approval.state === "used") return false;
    if (approval.state !== "approved") return notApproved(id, approval.state);
    use.run(approval.key);
    changes.approval(approval.key, "used");
    return true;
  };
});

export const expireApprovals = operation(record({}), (db) => {
  const close = db
    .prepare<[number], ApprovalId>(
      "update approval set state = 'expired' where state = 'open' and expires_ms <= ? returning id",
    )
    .pluck();
  const find = prepareFind(db);
  const audit = prepareAudit(db);
  const changes = prepareRecorder(db);
  const wakeAsker = prepareWakeAsker(db);
  const sendHeld = prepareSendHeld(db);
  const showDecision = prepareShowDecision(db);
  return (_, moment): ApprovalId[] => {
    const closed = close.all(moment.nowMs);
    for (const id of closed) {
      const approval = find(id) as ApprovalRow;
      changes.approval(approval.key, "expired");
      wakeAsker(approval.run, moment);
      sendHeld(approval, "expired", moment);
      showDecision(approval.key, { state: "expired" }, moment);
      const kind = auditKind(approval, "expire");
      audit({ principal: "cortex", kind, object: id, detail: subjectOf(approval), atMs: moment.nowMs });
    }
    return closed;
  };
});

function saidIn(answer: ApprovalAnswer): string | undefined {
  switch (answer.kind) {
    case "approve":
      return undefined;
    case "deny":
      return answer.reason;
    case "answer":
      return answer.text;
  }
}

const AUDIT_KINDS = {
  approval: { approve: "approval.approve", deny: "approval.deny", expire: "approval.expire" },
  question: { answer: "question.answer", deny: "question.deny", expire: "question.expire" },
} as const;

function auditKind({ kind }: ApprovalRow, decision: ApprovalAnswer["kind"] | "expire"): AuditKind {
  return (AUDIT_KINDS[kind] as Readonly<Record<string, AuditKind>>)[decision]!;
}

/** The call itself, and the reasons given, can be pruned; its hash and the name of its tool cannot. */
function subjectOf({ tool, call_hash: callHash, turn_id: turnId }: ApprovalRow) {
  return { tool, callHash, turnId };
}

function prepareFind(db: Database): (id: string) => ApprovalRow | Refusal {
  const find = db.prepare<[string], ApprovalRow>(
    `select a.key, a.run, a.kind, a.state, a.answer, a.expires_ms, r.turn, r.turn_id, a.call_hash,
       a.request ->> 'tool' as tool, a.held
     from approval a join run r on r.key = a.run where a.id = ?`,
  );
  return (id) => find.get(id) ?? approvalUnknown(id);
}

/**
 * Wakes the newest attempt at the turn that asked, if it is suspended. A running attempt finds the answer itself, or
 * when it suspends.
 */
function prepareWakeAsker(db: Database): (run: number, moment: OperationTime) => void {
  const runs = prepareSessionRun(db);
  return (run, { nowMs, wake }) => {
    const asker = runs.findByKey(run);
    if (asker.current === null) return;
    const current = runs.findByKey(asker.current);
    if (current.turn !== asker.turn || current.state !== "suspended") return;
    runs.wake(current, nowMs);
    wake("queue");
  };
}

/**
 * Queues an answer that was held, or the notice that it is not sent. In the commit that decides: whenever the process
 * dies, it is sent once or still open.
 */
function prepareSendHeld(db: Database) {
  const insertDeliveries = prepareInsertDeliveries(db);
  return ({ held, turn }: ApprovalRow, state: ApprovalState, { nowMs, wake }: OperationTime): void => {
    if (held === null) return;
    const { message, approved, refused } = JSON.parse(held) as HeldDeliveries;
    insertDeliveries(state === "approved" ? approved : refused, { turn, message }, nowMs);
    wake("outbox");
  };
}

function checkOpen(id: string, approval: ApprovalRow, kind: string, nowMs: number): Refusal | undefined {
  const { state, expires_ms: expiresMs } = approval;
  if (state === "expired" || (state === "open" && expiresMs <= nowMs)) return expired(id, expiresMs);
  if (state === "void") {
    return new Refusal(
      "state_conflict",
      `Approval ${id} is void: its turn is over, or its call was asked again`,
      "Run `cortex approvals` to list pending requests. Send a message if you still want the work done.",
    );
  }
  if (state !== "open") {
    return new Refusal(
      "state_conflict",
      `Approval ${id} is already ${state}`,
      "A request can be answered only once.",
    );
  }
  if (kind !== UNFIT[approval.kind]) return undefined;
  return new Refusal(
    "state_conflict",
    kind === "approve" ? `${id} is a question, not a tool call` : `${id} is a tool call, not a question`,
    kind === "approve" ? "Answer it with text." : "Approve or deny it.",
  );
}

function expired(id: string, expiresMs: number): Refusal {
  return new Refusal(
    "approval_expired",
    `Approval ${id} expired at ${new Date(expiresMs).toISOString()}`,
    "The call was not made. Ask the agent to try again.",
  );
}

function notApproved(id: string, state: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Approval ${id} is ${state}, not approved`,
    "Make the call only after a person has approved it.",
  );
}

function notOfTurn(id: string, turn: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Approval ${id} does not belong to turn ${turn}`,
    "Request a separate approval.",
  );
}

function approvalUnknown(id: string): Refusal {
  return new Refusal(
    "approval_unknown",
    `Unknown approval "${id}"`,
    "Run `cortex approvals` to list pending requests.",
  );
}
