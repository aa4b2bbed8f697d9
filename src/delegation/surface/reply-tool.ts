/** The tool an agent uses to answer its caller before its turn ends. */
import { z } from "zod";

import { defineTool } from "../../model/define-tool.ts";
import { AGENT_ADAPTER } from "../../model/event.ts";
import { eventId } from "../../model/event-id.ts";
import type { Tool, ToolContext } from "../../model/tool.ts";
import { REPLY_TOOL } from "../../model/reply-tool.ts";
import { deriveUlid } from "../../model/ulid.ts";
import type { NewEvent, QueueItem } from "../../store/store.ts";
import { acceptFromAgent, type DelegationPorts } from "../accept.ts";
import { answeredBy, type Caller, deliveryTo, readCaller } from "../caller.ts";
import { MAX_TASK_LENGTH } from "../delegate.ts";
import { WRITE_TIMEOUT_MS } from "./dispatch-tool.ts";
import { targetOf } from "../kin.ts";
import { sendToSession } from "../send.ts";
import { stampOf } from "../../model/stamp.ts";

const parameters = z.strictObject({
  content: z.string().trim().min(1).max(MAX_TASK_LENGTH),
});

export function createReplyTool(use: () => DelegationPorts): Tool {
  return defineTool({
    name: REPLY_TOOL,
    description:
      "Sends an answer immediately to the sender of your message or task, while you continue. Your final answer is not sent " +
      "again if it is the same, or only NO_REPLY.",
    parameters,
    writes: true,
    // Delivery and event are derived from the call: a repeated call sends nothing.
    repeatable: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    trust: {},
    tells: true,
    async run({ content }, context) {
      const ports = use();
      return { text: await reply(content, await readCaller(context, ports.store), ports) };
    },
  });
}

/** Sends the reply the way the final answer goes. Says where that is. */
async function reply(content: string, caller: Caller, ports: DelegationPorts): Promise<string> {
  const { context, items } = caller;
  const { store } = ports;
  const answered = answeredBy(items);
  const delivery = deliveryTo(answered, content, deriveUlid(context.turn, context.callKey));
  if (delivery !== undefined) {
    const { session, epoch, run } = context;
    await store.outbox.add({ session, epoch }, run, { ...delivery, content: delivery.content ?? content });
    return `Answer to ${delivery.target.place} on ${delivery.target.channel} queued.`;
  }
  const stamp = stampOf(answered.event);
  const sender =
    stamp === undefined || stamp.kind === "report" ? undefined : await store.sessions.get(stamp.from.session);
  if (sender !== undefined) {
    await sendToSession(targetOf(sender), content, caller, ports);
    return `Answer to ${sender.key} queued.`;
  }
  await record(content, answered, context, ports);
  return "Answer recorded in the ledger, where the sender reads it.";
}

/** The owner at a terminal has no address, and reads replies in the ledger as they read the answer. */
async function record(
  content: string,
  { event }: QueueItem,
  { agent, callKey }: ToolContext,
  ports: DelegationPorts,
): Promise<void> {
  const reply: NewEvent = {
    id: eventId(AGENT_ADAPTER, { kind: "id", sourceId: callKey }),
    channel: event.channel,
    direction: "sent",
    sender: agent,
    replyTo: event.id,
    cause: event.id,
    content,
    atMs: ports.clock(),
  };
  await acceptFromAgent(reply, undefined, ports);
}
