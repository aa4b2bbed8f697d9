/**
 * What stands beside a call when a person decides: who it is for, what the session has come into contact with, and the
 * message that led to it, all as they are in the commit that asks.
 */
import { labelNames } from "../model/label-names.ts";
import type { Json } from "../model/json.ts";
import { type Cause, MAX_CAUSE_LENGTH, type Request } from "../model/request.ts";
import { present } from "../model/present.ts";
import { readTrust } from "../model/trust.ts";
import { truncate } from "../model/truncate.ts";
import type { NewApproval, QueueItem, Store } from "../store/store.ts";
import { principalOfTurn } from "./audience.ts";
import { bindingOf, hashOfCall } from "./approval.ts";
import type { RunWork } from "./prepare.ts";

type AskingWork = Pick<RunWork, "claim" | "setup" | "folders" | "items">;

/** The request as it is kept: its digest covers the call, the labels and the files. A question stays as it is. */
export async function withContext(
  asked: NewApproval,
  answered: QueueItem,
  { claim, setup, folders, items }: AskingWork,
  store: Pick<Store, "events" | "sessions">,
): Promise<NewApproval> {
  const [session, causedBy] = await Promise.all([
    store.sessions.get(claim.lease.session),
    causeOf(answered, store),
  ]);
  return inContext(asked, {
    agent: setup.id,
    workspace: folders.workspace,
    principal: principalOfTurn(items),
    labels: labelNames(readTrust(session?.settings ?? {})),
    causedBy,
  });
}

interface AskingContext extends Required<Pick<Request, "agent" | "workspace" | "principal" | "labels">> {
  readonly causedBy: Cause | undefined;
}

/** The request with what stands beside it. */
export function inContext(asked: NewApproval, { causedBy, ...context }: AskingContext): NewApproval {
  const { workspace } = context;
  const request: Request = { ...(asked.request as Request), ...context, ...present({ causedBy }) };
  if (asked.kind === "question") return { ...asked, request: request as unknown as Json };
  const { tool = "", args = null } = request;
  return {
    ...asked,
    request: request as unknown as Json,
    callHash: hashOfCall({ tool, args, workspace }, bindingOf(request)),
  };
}

/** The message at the origin of the work: a worker and the step of a relay are asked by agents. */
export async function causeOf(
  { event, dispatches }: Pick<QueueItem, "event" | "dispatches">,
  { events }: Pick<Store, "events">,
): Promise<Cause> {
  const chain = event.cause === undefined ? [] : await events.chain(event.id);
  const root = chain.at(-1)?.id;
  const { id, channel, sender = null, content } = (root && (await events.get(root))) ?? event;
  const message =
    id === event.id ? dispatches.find((each) => each.message !== undefined)?.message : undefined;
  return { event: id, sender, channel, text: truncate(message ?? content ?? "", MAX_CAUSE_LENGTH) };
}
