import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openTestCortex } from "../../test/support/home.ts";
import { PATIENT } from "../../test/support/server.ts";
import { answer, openReceiver } from "../../test/support/webhook-receiver.ts";
import type { Receiver } from "../../test/support/webhook-receiver.ts";

function webhookTo({ url }: Receiver) {
  return { channels: { webhooks: { ops: { deliverTo: { url } } } } };
}

const delivery = { channel: "webhook", place: "ops" };

test("an answer goes where the message wants it, once, and its delivery is settled", async () => {
  await using receiver = await openReceiver();
  await using cortex = await openTestCortex({
    cortex: webhookTo(receiver),
    script: "- { when: .*, plays: [{ say: All is well }] }",
  });
  await cortex.send({ content: "status?", delivery });

  await expect.poll(async () => (await cortex.store.outbox.list()).items[0]?.state).toBe("sent");
  expect(receiver.received.map(({ json }) => json["content"])).toEqual(["All is well"]);
});

test("tags are for Cortex, and NO_REPLY sends nothing", async () => {
  await using receiver = await openReceiver();
  const script = `
- { when: ^quiet$, plays: [{ say: NO_REPLY }] }
- { when: .*, plays: [{ say: "[[audio_as_voice]] Heard" }] }`;
  await using cortex = await openTestCortex({ cortex: webhookTo(receiver), script });
  const quiet = await cortex.send({ content: "quiet", delivery, mode: "followup" });
  await cortex.outcome(quiet.item, new AbortController().signal);
  await cortex.send({ content: "loud", delivery, mode: "followup" });

  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]!.json["content"]).toBe("Heard");
});

test("whoever waits elsewhere is told when there will be no answer", async () => {
  await using receiver = await openReceiver();
  await using cortex = await openTestCortex({
    cortex: webhookTo(receiver),
    script: "- { when: .*, plays: [{ fault: refused }] }",
  });
  await cortex.send({ content: "status?", delivery });

  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]!.json["content"]).toContain("could not answer");
});

test("an answer that nobody takes is a dead letter that can be sent again", async () => {
  await using receiver = await openReceiver();
  receiver.behave(answer(410));
  await using cortex = await openTestCortex({
    cortex: webhookTo(receiver),
    script: "- { when: .*, plays: [{ say: Hello }] }",
  });
  await cortex.send({ content: "hi", delivery });
  await expect.poll(async () => (await cortex.store.outbox.list()).items[0]?.state).toBe("dead");

  receiver.behave(answer(200));
  const [dead] = (await cortex.store.outbox.list()).items;
  await cortex.store.outbox.retry(dead!.id);
  await expect.poll(async () => (await cortex.store.outbox.list()).items[0]?.state).toBe("sent");
});

test("a delivery whose secret is not set is a dead letter, and is sent signed once it is set", async () => {
  await using receiver = await openReceiver();
  const deliverTo = { url: receiver.url, secretEnv: "OPS_SECRET" };
  await using cortex = await openTestCortex({
    cortex: { channels: { webhooks: { ops: { deliverTo } } } },
    script: "- { when: .*, plays: [{ say: Hello }] }",
  });
  expect(cortex.unsetVariables()).toMatchObject([
    { setting: "channels.webhooks.ops.deliverTo.secretEnv", variable: "OPS_SECRET" },
  ]);
  await cortex.send({ content: "hi", delivery });
  const state = async () => (await cortex.store.outbox.list()).items[0]?.state;
  await expect.poll(state).toBe("dead");
  const [dead] = (await cortex.store.outbox.list()).items;
  expect(dead!.error).toMatch(/OPS_SECRET is not set\. Set OPS_SECRET in Cortex's environment/);
  expect(receiver.received).toEqual([]);

  writeFileSync(join(cortex.home, "config", ".env"), "OPS_SECRET=a long secret\n", { mode: 0o600 });
  await expect.poll(() => cortex.unsetVariables(), PATIENT).toEqual([]);
  await cortex.store.outbox.retry(dead!.id);
  await expect.poll(state).toBe("sent");
  expect(receiver.received[0]!.headers).toHaveProperty("x-cortex-signature");
});

test("an address that is none is refused before anything is kept", async () => {
  await using cortex = await openTestCortex();
  const sent = cortex.send({ content: "hi", delivery: { channel: "" } });
  await expect(sent).rejects.toMatchObject({ code: "target_invalid" });
  expect((await cortex.store.counts()).events).toBe(0);
});
