/** The tool by which an agent answers whoever caused its turn before the turn is over. */
import { z } from "zod";

import { defineTool } from "../../model/define-tool.ts";
import { AGENT_ADAPTER, eventId } from "../../model/event.ts";
import type { Tool, ToolContext } from "../../model/tool.ts";
import { REPLY_TOOL } from "../../model/reply-tool.ts";
import { deriveUlid } from "../../model/ulid.ts";
import type { NewDelivery, QueueItem } from "../../store/store.ts";
import { type Caller, readCaller } from "../caller.ts";
import { MAX_TASK_LENGTH } from "../delegate.ts";
import { WRITE_TIMEOUT_MS } from "./dispatch-tool.ts";
import { targetOf } from "../kin.ts";
import type { DelegationParts } from "../parts.ts";
import { sendToSession } from "../send.ts";
import { answeredMessage, stampOf } from "../../model/stamp.ts";

const parameters = z.strictObject({
  content: z.string().trim().min(1).max(MAX_TASK_LENGTH),
});

export function createReplyTool(use: () => DelegationParts): Tool {
  return defineTool({
    name: REPLY_TOOL,
    description:
      "Sends an answer at once to whoever wrote to you or gave you the work, while you go on. Your last answer is then not sent " +
      "again if it is the same, or only NO_REPLY.",
    parameters,
    writes: true,
    // Delivery and event are made from the call: the same call again sends nothing.
    repeatable: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    trust: {},
    async run({ content }, context) {
      const parts = use();
      const caller = await readCaller(context, parts);
      return { text: await reply(content, caller, parts) };
    },
  });
}

/** The way that the final answer takes. */
async function reply(content: string, caller: Caller, parts: DelegationParts): Promise<string> {
  const { context, items } = caller;
  const first = answeredMessage(items)!;
  const id = deriveUlid(context.turn, context.callKey);
  const delivery = parts.deliveryOf(first, content, id);
  if (delivery !== undefined) {
    await deliver(delivery, content, context, parts);
    return `The answer is on its way to ${delivery.target.place} on ${delivery.target.channel}.`;
  }
  const stamp = stampOf(first.event);
  const sender =
    stamp === undefined || stamp.kind === "report"
      ? undefined
      : await parts.store.sessions.get(stamp.from.session);
  if (sender !== undefined) {
    await sendToSession(targetOf(sender), content, caller, parts);
    return `The answer to ${sender.key} is on its way.`;
  }
  await note(content, first, context, parts);
  return "The answer is in the ledger, where whoever wrote reads it.";
}

async function deliver(
  delivery: NewDelivery,
  content: string,
  { session, epoch, run }: ToolContext,
  { store }: DelegationParts,
): Promise<void> {
  await store.outbox.add({ session, epoch }, run, { ...delivery, content: delivery.content ?? content });
}

/** The owner at a terminal has no address: what is said is read in the ledger, as the answer is. */
async function note(
  content: string,
  { event }: QueueItem,
  { agent, callKey }: ToolContext,
  { accept, clock }: DelegationParts,
): Promise<void> {
  await accept({
    id: eventId(AGENT_ADAPTER, { kind: "id", sourceId: callKey }),
    channel: event.channel,
    direction: "sent",
    sender: agent,
    replyTo: event.id,
    cause: event.id,
    content,
    atMs: clock(),
  });
}
