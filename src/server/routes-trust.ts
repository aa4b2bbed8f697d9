/** Decisions by people: approvals and answers. */
import { CortexError } from "../model/errors.ts";
import type { ApprovalId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import { present } from "../model/present.ts";
import { answererFor, decide } from "../intake/approvals.ts";
import { approvalView } from "../feature/approval-view.ts";
import { coreSchemas as schemas } from "../feature/api.ts";
import { pageOf } from "../feature/page.ts";
import { ApprovalsQuery } from "../feature/requests.ts";
import { route } from "../feature/route.ts";

export const trustRoutes = [
  route({
    method: "get",
    path: "/api/approvals",
    needs: "read",
    summary: "List approvals and questions",
    query: ApprovalsQuery,
    answers: { 200: schemas.Approvals },
    async handle({ query: { session, ...options } }, { cortex }) {
      const key = session === undefined ? undefined : normalizeSessionKey(session);
      const page = await cortex.store.approvals.list(present({ ...options, session: key }));
      return { status: 200, body: pageOf(page, approvalView) };
    },
  }),
  route({
    method: "get",
    path: "/api/approvals/:id",
    needs: "read",
    summary: "Get an approval or a question",
    answers: { 200: schemas.Approval },
    async handle({ params }, { cortex }) {
      const approval = await cortex.store.approvals.get(params.id as ApprovalId);
      if (approval === undefined) throw approvalUnknown(params.id);
      return { status: 200, body: approvalView(approval) };
    },
  }),
  route({
    method: "post",
    path: "/api/approvals/:id",
    needs: "approve",
    summary: "Approve or deny a call",
    body: schemas.DecisionRequest,
    answers: { 200: schemas.Approval },
    async handle({ caller, params, body: { decision, reason, digest } }, { cortex }) {
      const decided =
        decision === "approve" ? { kind: decision, digest } : { kind: decision, reason, digest };
      const answered = await decide(params.id, decided, answererFor(caller), cortex.store);
      return { status: 200, body: approvalView(answered) };
    },
  }),
  route({
    method: "post",
    path: "/api/questions/:id",
    needs: "send",
    summary: "Answer a question of an agent",
    body: schemas.AnswerRequest,
    answers: { 200: schemas.Approval },
    async handle({ caller, params, body: { answer } }, { cortex }) {
      const decided = await decide(
        params.id,
        { kind: "answer", text: answer },
        answererFor(caller),
        cortex.store,
      );
      return { status: 200, body: approvalView(decided) };
    },
  }),
];

function approvalUnknown(id: string): CortexError {
  return new CortexError("approval_unknown", `Unknown approval "${id.slice(0, 80)}"`, {
    hint: "GET /api/approvals lists approvals and questions.",
  });
}
