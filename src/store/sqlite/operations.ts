/** All operations of the writer. Their position is their code on the wire. */
import { acceptEvent, acceptEvents } from "./accept-event.ts";
import { appendAudit, noteOutside } from "./audit.ts";
import { answerApproval, expireApprovals, useApproval } from "./approvals.ts";
import { commitTurn } from "./commit-turn.ts";
import { beginCompaction, compact } from "./compact.ts";
import { countUsage } from "./count-usage.ts";
import { setCursors } from "./cursors.ts";
import { cancelDelegations, expireDelegations, reportDelegation } from "./delegations.ts";
import { dispatch } from "./dispatch.ts";
import { beginDraft, forgetDraft, sentDraft } from "./drafts.ts";
import { failRun } from "./fail-run.ts";
import { indexEvents } from "./index-events.ts";
import { dropDead, dropItems, retryDead } from "./items.ts";
import { journal, pin } from "./journal.ts";
import { beginCommand, endCommand, hasWritten, willWrite } from "./labels.ts";
import { leaseSessions, releaseLeases, renewLeases } from "./lease.ts";
import type { Operation, Refusal } from "./operation.ts";
import {
  addDelivery,
  addNotice,
  claimDeliveries,
  dropDeadDelivery,
  failDelivery,
  planDelivery,
  releaseDeliveries,
  retryDelivery,
  sendingChunk,
  settleChunk,
} from "./outbox.ts";
import { offerPairing, removePairing } from "./pairings.ts";
import { addPerson, changePerson, removePerson, takePeopleOver } from "./people.ts";
import { takeFromPerson } from "./person-limits.ts";
import { forgetWords, prune } from "./prune.ts";
import { holdDispatches, noteJudged, recordHookRun } from "./record-hook-run.ts";
import { archiveRelays, createRelay, saveRelay } from "./relays.ts";
import { configureSession, fork, resetSession } from "./session.ts";
import { requestAbort, resume, suspend } from "./suspend.ts";
import { setHookEnabled, syncHooks } from "./sync-hooks.ts";
import { syncPersonas } from "./sync-personas.ts";
import { keepMember, orderTurn } from "./team.ts";
import { createToken, noteTokenUsed, revokeToken } from "./tokens.ts";

export const OPERATIONS = {
  acceptEvent,
  dispatch,
  leaseSessions,
  renewLeases,
  releaseLeases,
  dropItems,
  retryDead,
  dropDead,
  journal,
  pin,
  suspend,
  resume,
  requestAbort,
  failRun,
  commitTurn,
  compact,
  fork,
  resetSession,
  configureSession,
  claimDeliveries,
  planDelivery,
  sendingChunk,
  settleChunk,
  failDelivery,
  releaseDeliveries,
  retryDelivery,
  dropDeadDelivery,
  addDelivery,
  answerApproval,
  useApproval,
  expireApprovals,
  indexEvents,
  syncHooks,
  setHookEnabled,
  recordHookRun,
  noteJudged,
  reportDelegation,
  expireDelegations,
  cancelDelegations,
  createRelay,
  saveRelay,
  archiveRelays,
  addNotice,
  keepMember,
  orderTurn,
  prune,
  forgetWords,
  beginCompaction,
  syncPersonas,
  countUsage,
  holdDispatches,
  willWrite,
  hasWritten,
  beginCommand,
  endCommand,
  createToken,
  revokeToken,
  noteTokenUsed,
  appendAudit,
  addPerson,
  changePerson,
  removePerson,
  takePeopleOver,
  takeFromPerson,
  noteOutside,
  acceptEvents,
  setCursors,
  offerPairing,
  removePairing,
  beginDraft,
  sentDraft,
  forgetDraft,
};

export type OperationName = keyof typeof OPERATIONS;
export type Input<Name extends OperationName> =
  (typeof OPERATIONS)[Name] extends Operation<infer _T, infer In, infer _Out> ? In : never;
export type Output<Name extends OperationName> =
  (typeof OPERATIONS)[Name] extends Operation<infer _T, infer _In, infer Out> ? Exclude<Out, Refusal> : never;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];
